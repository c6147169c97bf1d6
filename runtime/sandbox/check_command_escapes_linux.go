package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// commandProbe is the argv[0] that makes this program a probe inside a command's sandbox: a
// program that tries to get out.
const commandProbe = "air-sandbox-probe"

// What a probe is told to do instead of all attempts.
const (
	probeWaits    = "wait"
	probeOldEntry = "old-entry"
)

// escape is one attempt; try returns nil when it worked.
type escape struct {
	name string
	try  func(bait) error
}

// runProbe makes all attempts and prints rows as JSON. Without an argument it does nothing,
// which shows that a program runs.
func runProbe(arguments []string) int {
	if len(arguments) == 0 {
		return 0
	}
	switch arguments[0] {
	case probeWaits:
		time.Sleep(checkPatience)
		return 0
	case probeOldEntry:
		return int(errnoOf(oldEntry()))
	}
	var b bait
	if err := json.Unmarshal([]byte(arguments[0]), &b); err != nil {
		fmt.Println(err)
		return 1
	}
	var rows []Row
	for _, e := range commandEscapes() {
		rows = append(rows, e.row(b))
	}
	if err := json.NewEncoder(os.Stdout).Encode(rows); err != nil {
		return 1
	}
	return 0
}

// row makes the attempt.
func (e escape) row(b bait) Row {
	refused, how := verdict(e.try(b))
	return Row{Profile: "command", Attempt: e.name, Refused: refused, How: how}
}

// commandEscapes are all of them. What a call is given a pointer to is declared outside of the
// attempt, and so on the heap, which does not move.
func commandEscapes() []escape {
	var all []escape
	for _, group := range [][]escape{
		hostEscapes(), protectedEscapes(), procEscapes(), networkEscapes(), mountEscapes(),
		namespaceEscapes(), kernelEscapes(), deviceEscapes(),
	} {
		all = append(all, group...)
	}
	return all
}

// absent is an attempt to find something of the host.
func absent(name string) escape {
	return escape{"see " + name, func(bait) error { _, err := os.Lstat(name); return err }}
}

// opened is an attempt to open a file; nothing is written.
func opened(what string, flag int, path func(bait) string) escape {
	return escape{what, func(b bait) error {
		f, err := os.OpenFile(path(b), flag|unix.O_NONBLOCK, 0)
		if err == nil {
			f.Close()
		}
		return err
	}}
}

func fixed(path string) func(bait) string { return func(bait) string { return path } }

func hostEscapes() []escape {
	return []escape{
		opened("read a file beside the project", os.O_RDONLY, func(b bait) string { return b.Secret }),
		{"see the home of the person", bait.seeHome},
		absent("/etc/shadow"), absent("/run"), absent("/var"), absent("/sys"), absent("/boot"),
		opened("write a system file", os.O_WRONLY, fixed("/etc/hosts")),
		{"make a file in the root", func(bait) error { return os.Mkdir("/escape", 0o700) }},
		{"signal air", func(b bait) error { return unix.Kill(b.HostPID, 0) }},
		{"gain by set-user-id", func(bait) error {
			if on, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || on == 1 {
				return errors.Join(err, errors.New("no_new_privs"))
			}
			return nil
		}},
		{"hold a capability", func(bait) error { return noCapability() }},
	}
}

// seeHome looks for anything in the home but the way to the project.
func (b bait) seeHome() error {
	if b.HostHome == "" || b.HostHome == "/" {
		return unix.ENOENT
	}
	entries, err := os.ReadDir(b.HostHome)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(b.Project+"/", filepath.Join(b.HostHome, e.Name())+"/") {
			return nil
		}
	}
	return errors.New("nothing is there")
}

// noCapability is nil if the process has a capability in any of its sets.
func noCapability() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		if strings.HasPrefix(name, "Cap") && strings.Trim(value, "0\t\n ") != "" {
			return nil
		}
	}
	return errors.New("all sets are empty")
}

func protectedEscapes() []escape {
	chmod := func(mode uint32) func(bait) error {
		return func(b bait) error { return unix.Chmod(b.Project, mode) }
	}
	return []escape{
		{"make a hook", func(b bait) error { return os.Mkdir(filepath.Join(b.git(), "hooks"), 0o700) }},
		{"rename .git away", func(b bait) error { return os.Rename(b.git(), filepath.Join(b.Project, "old")) }},
		{"remove .git", func(b bait) error { return os.Remove(b.git()) }},
		opened("read a covered file", os.O_RDONLY, bait.covered),
		opened("read a file whose mode lets nobody", os.O_RDONLY, bait.closed),
		{"open up a covered file", func(b bait) error { return os.Chmod(b.covered(), 0o600) }},
		{"rename a folder above a covered file", func(b bait) error {
			return os.Rename(filepath.Dir(b.nested()), filepath.Join(b.Project, "old"))
		}},
		{"make something set-user-id", chmod(0o4700)},
		{"make something set-group-id", chmod(0o2700)},
		{"make a file that is set-user-id", func(b bait) error {
			fd, err := unix.Open(filepath.Join(b.Project, "set-user-id"), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o4700)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}},
	}
}

func procEscapes() []escape {
	all := []escape{
		opened("write core_pattern", os.O_WRONLY, fixed("/proc/sys/kernel/core_pattern")),
		opened("read the init's environment", os.O_RDONLY, fixed("/proc/1/environ")),
		opened("read the init's memory", os.O_RDONLY, fixed("/proc/1/mem")),
		{"enter the init's root", func(bait) error { _, err := os.ReadDir("/proc/1/root"); return err }},
		{"see the init's descriptors", func(bait) error { _, err := os.Readlink("/proc/1/fd/4"); return err }},
		{"trace the init", func(bait) error { return call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, 1, 0, 0) }},
	}
	for _, name := range []string{"sysrq-trigger", "kcore", "keys", "timer_list", "kmsg", "kallsyms"} {
		flag := os.O_RDONLY
		if name == "sysrq-trigger" {
			flag = os.O_WRONLY
		}
		all = append(all, opened("open /proc/"+name, flag, fixed("/proc/"+name)))
	}
	return all
}

func networkEscapes() []escape {
	var fds [2]int32
	socket := func(domain, kind, protocol uintptr) func(bait) error {
		return func(bait) error { return call(unix.SYS_SOCKET, domain, kind, protocol) }
	}
	return []escape{
		{"UNIX socket", socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)},
		{"UNIX socket, with higher bits set", socket(1<<32|unix.AF_UNIX, unix.SOCK_STREAM, 0)},
		{"connect to a UNIX socket in the project", func(bait) error { return dial("unix", socketName) }},
		{"pair of UNIX datagram sockets", func(bait) error {
			return call(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_DGRAM, 0, at(&fds))
		}},
		{"netlink socket", socket(unix.AF_NETLINK, unix.SOCK_RAW, 0)},
		{"packet socket", socket(unix.AF_PACKET, unix.SOCK_RAW, 0)},
		{"raw socket", socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)},
		{"socket to a virtual machine's host", socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)},
		{"kernel crypto socket", socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0)},
		{"connect to the host's loopback", func(b bait) error { return dial("tcp", "127.0.0.1:"+b.TCP) }},
		// TEST-NET-1 of RFC 5737: nobody is there, but a way would be.
		{"find a way to the internet", func(bait) error { return dial("udp", "192.0.2.1:53") }},
	}
}

func dial(network, address string) error {
	conn, err := net.DialTimeout(network, address, 2*time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func mountEscapes() []escape {
	return []escape{
		{"remount /usr writable", func(bait) error { return unix.Mount("", "/usr", "", unix.MS_REMOUNT|unix.MS_BIND, "") }},
		{"mount a file system", func(bait) error { return unix.Mount("none", "/tmp", "tmpfs", 0, "") }},
		{"unmount a cover", func(b bait) error { return unix.Unmount(b.covered(), unix.MNT_DETACH) }},
		{"clear a mount's attributes", func(bait) error {
			return unix.MountSetattr(unix.AT_FDCWD, "/usr", 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
		}},
		{"clone a mount", func(bait) error { _, err := unix.OpenTree(unix.AT_FDCWD, "/usr", unix.OPEN_TREE_CLONE); return err }},
		{"open a file system", func(bait) error { _, err := unix.Fsopen("tmpfs", 0); return err }},
		{"pivot_root", func(bait) error { return unix.PivotRoot("/tmp", "/tmp") }},
		{"chroot", func(bait) error { return unix.Chroot("/tmp") }},
		{"open by handle", func(bait) error {
			_, err := unix.OpenByHandleAt(unix.AT_FDCWD, unix.NewFileHandle(1, make([]byte, 8)), 0)
			return err
		}},
	}
}

func namespaceEscapes() []escape {
	var args [88]byte
	cloned := func(number uintptr, arguments ...uintptr) func(bait) error {
		return func(bait) error { return forked(number, arguments...)(nil) }
	}
	return []escape{
		{"unshare a user namespace", func(bait) error { return unix.Unshare(unix.CLONE_NEWUSER) }},
		{"unshare a mount namespace", func(bait) error { return unix.Unshare(unix.CLONE_NEWNS) }},
		{"clone into a user namespace", cloned(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD))},
		{"call by the entry of 32-bit programs", func(bait) error { return oldEntryInChild() }},
		{"clone3", func(bait) error { return call(unix.SYS_CLONE3, at(&args), 88) }},
		{"enter a namespace", func(bait) error { return unix.Setns(0, 0) }},
	}
}

// oldEntryInChild calls in a process of its own, which dies where the kernel has no such
// entry.
func oldEntryInChild() error {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{commandProbe, probeOldEntry}
	err := cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() > 0 {
		return unix.Errno(ended.ExitCode())
	}
	return err
}

// oldEntry asks for the process id, which is harmless, in a way that a list made for this
// architecture does not see.
func oldEntry() error {
	const getpid32 = 20
	p, err := newProbed("/tmp")
	if err != nil {
		return err
	}
	if p.oldCall == nil {
		return unix.ENOSYS // this architecture has none
	}
	if r := int32(p.oldCall(getpid32, 0, 0)); r < 0 {
		return unix.Errno(-r)
	}
	return nil
}

// errnoOf is 0 for nil, and EIO for an error of another kind.
func errnoOf(err error) (errno unix.Errno) {
	if err != nil && !errors.As(err, &errno) {
		return unix.EIO
	}
	return errno
}

func kernelEscapes() []escape {
	var buffer [256]byte
	return []escape{
		{"io_uring", func(bait) error { return call(unix.SYS_IO_URING_SETUP, 8, at(&buffer)) }},
		{"bpf", func(bait) error { return call(unix.SYS_BPF, 0, at(&buffer), 64) }},
		{"perf events", func(bait) error { return call(unix.SYS_PERF_EVENT_OPEN, at(&buffer), 0, 0, 0, 0) }},
		{"userfaultfd", func(bait) error { return call(unix.SYS_USERFAULTFD, 1) }},
		{"read the session's keyring", func(bait) error {
			_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
			return err
		}},
		{"load a module", func(bait) error { return call(unix.SYS_INIT_MODULE, at(&buffer), 0, at(&buffer)) }},
		{"load a kernel", func(bait) error { return call(unix.SYS_KEXEC_LOAD, 0, 0, 0, 0) }},
		// A clock that does not exist: should the call get through, it changes nothing.
		{"set a clock", func(bait) error { return call(unix.SYS_CLOCK_SETTIME, 99, at(&buffer)) }},
		{"memory that is all code", func(bait) error { return call(unix.SYS_PERSONALITY, 0x400000) }},
		{"name the machine", func(bait) error { return unix.Sethostname([]byte("escape")) }},
	}
}

func deviceEscapes() []escape {
	var typed byte = 'x'
	return []escape{
		// To what they are already, should it work.
		{"change the mode of a device", func(bait) error { return unix.Chmod("/dev/null", 0o666) }},
		{"change the mode of the standard input", func(bait) error { return unix.Fchmod(0, 0o666) }},
		opened("open the terminal", os.O_RDWR, fixed("/dev/tty")),
		opened("open the console", os.O_RDWR, fixed("/dev/console")),
		opened("open the machine's memory", os.O_RDONLY, fixed("/dev/mem")),
		opened("open a pseudoterminal", os.O_RDWR, fixed("/dev/ptmx")),
		{"make a device", func(bait) error { return unix.Mknod("/tmp/mem", unix.S_IFCHR|0o600, int(unix.Mkdev(1, 1))) }},
		{"type into a terminal", func(bait) error {
			return call(unix.SYS_IOCTL, 0, unix.TIOCSTI, at(&typed))
		}},
		{"type into a terminal, with higher bits set", func(bait) error {
			return call(unix.SYS_IOCTL, 0, 1<<32|unix.TIOCSTI, at(&typed))
		}},
	}
}
