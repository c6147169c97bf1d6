package engine

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/engine/wazero"
)

// escaping is the argv[0] of a worker whose engine has a hole: what a guest asks for with
// tool_call, the worker does itself, natively, from behind its walls. argv[1] says what.
const escaping = "air-escaping-worker"

func serveIfEscaping() {
	if os.Args[0] == escaping {
		serve(&escapingEngine{Engine: &wazero.Engine{}, hole: newHole(os.Args[1])})
	}
}

type escapingEngine struct {
	Engine
	hole hole
}

func (e *escapingEngine) Run(call *hostabi.Call) (uint32, error) {
	e.hole.Host = call.Host
	call.Host = e.hole
	return e.Engine.Run(call)
}

// hole is a Host that makes a system call.
type hole struct {
	hostabi.Host
	try func() syscall.Errno
}

const escaped = `"escaped"`

func (h hole) ToolCall(string, []byte) ([]byte, hostabi.Code) {
	if errno := h.try(); errno != 0 {
		return fmt.Appendf(nil, "%q", "refused: "+errno.Error()), 0
	}
	return []byte(escaped), 0
}

func newHole(name string) hole {
	for _, e := range escapes() {
		if e.name == name {
			return hole{try: e.try}
		}
	}
	panic("no such attempt")
}

type escape struct {
	name string
	try  func() syscall.Errno
}

// escapes lists the attempts. What they need is made before the worker is locked.
func escapes() []escape {
	host, self := uintptr(os.Getppid()), uintptr(os.Getpid())
	passwd, _ := unix.BytePtrFromString("/etc/passwd")
	program, _ := unix.BytePtrFromString("/bin/true")
	argv := &[2]*byte{program}
	page, _ := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	p := func(v unsafe.Pointer) uintptr { return uintptr(v) }
	file, path, args := p(unsafe.Pointer(passwd)), p(unsafe.Pointer(program)), p(unsafe.Pointer(argv))
	memory, size := p(unsafe.Pointer(&page[0])), uintptr(len(page))
	const here = ^uintptr(99) // AT_FDCWD
	rights := message(passwd)
	do := func(name string, number uintptr, a ...uintptr) escape {
		a = append(a, 0, 0, 0, 0, 0, 0)
		return escape{name, func() syscall.Errno {
			r, _, errno := syscall.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
			if strings.HasPrefix(name, "clone") && errno == 0 && r == 0 { // the child
				for {
					syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
				}
			}
			return errno
		}}
	}
	return []escape{
		do("openat", unix.SYS_OPENAT, here, file, unix.O_RDONLY),
		do("openat to write", unix.SYS_OPENAT, here, file, unix.O_WRONLY|unix.O_APPEND),
		do("openat2", unix.SYS_OPENAT2, here, file, memory, 24),
		do("execve", unix.SYS_EXECVE, path, args, 0),
		do("execveat", unix.SYS_EXECVEAT, here, path, args, 0, 0),
		do("socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0),
		do("unix socket", unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0),
		do("netlink", unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, 0),
		do("socketpair", unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, memory),
		do("pipe2", unix.SYS_PIPE2, memory, 0),
		do("ptrace the host", unix.SYS_PTRACE, unix.PTRACE_SEIZE, host, 0, 0),
		do("ptrace itself", unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0, 0),
		do("kill the host", unix.SYS_KILL, host, 0),
		do("kill itself", unix.SYS_KILL, self, 0),
		do("tgkill the host", unix.SYS_TGKILL, host, host, 0),
		do("clone a process", unix.SYS_CLONE, uintptr(unix.SIGCHLD)),
		do("clone into a namespace", unix.SYS_CLONE, uintptr(unix.SIGCHLD)|unix.CLONE_NEWUSER),
		do("clone3", unix.SYS_CLONE3, memory, 64),
		do("unshare", unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
		do("mmap executable", unix.SYS_MMAP, 0, size, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON, ^uintptr(0), 0),
		do("mprotect executable", unix.SYS_MPROTECT, memory, size, unix.PROT_READ|unix.PROT_EXEC),
		do("pkey_mprotect executable", unix.SYS_PKEY_MPROTECT, memory, size, unix.PROT_READ|unix.PROT_EXEC, ^uintptr(0)),
		do("memfd_create", unix.SYS_MEMFD_CREATE, file, 0),
		do("memfd_secret", unix.SYS_MEMFD_SECRET, 0),
		do("io_uring_setup", unix.SYS_IO_URING_SETUP, 1, memory),
		do("prctl", unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1),
		do("seccomp", unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, memory),
		do("dup", unix.SYS_DUP, 3),
		do("fcntl dup", unix.SYS_FCNTL, 3, unix.F_DUPFD, 0),
		do("sendmsg with rights", unix.SYS_SENDMSG, 3, rights, 0),
		do("recvmsg", unix.SYS_RECVMSG, 3, rights, unix.MSG_DONTWAIT),
		do("sendto", unix.SYS_SENDTO, 3, memory, 0, 0, 0, 0),
		do("process_vm_readv", unix.SYS_PROCESS_VM_READV, host, memory, 1, memory, 1, 0),
		do("process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, host, memory, 1, memory, 1, 0),
		do("pidfd_open", unix.SYS_PIDFD_OPEN, host, 0),
		do("pidfd_getfd", unix.SYS_PIDFD_GETFD, 3, 0, 0),
		do("prlimit of the host", unix.SYS_PRLIMIT64, host, unix.RLIMIT_NOFILE, 0, memory),
		do("setrlimit", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_DATA, memory, 0),
		do("bpf", unix.SYS_BPF, 0, memory, size),
		do("userfaultfd", unix.SYS_USERFAULTFD, 0),
		do("perf_event_open", unix.SYS_PERF_EVENT_OPEN, memory, 0, ^uintptr(0), ^uintptr(0), 0),
		do("keyctl", unix.SYS_KEYCTL, 0, ^uintptr(2), 0),
		do("mount", unix.SYS_MOUNT, 0, file, 0, unix.MS_BIND, 0),
		do("open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, 3, memory, 0),
		do("linkat", unix.SYS_LINKAT, here, file, here, path, 0),
		do("unlinkat", unix.SYS_UNLINKAT, here, file, 0),
		do("statx", unix.SYS_STATX, here, file, 0, 0, memory),
		do("ioctl", unix.SYS_IOCTL, 2, unix.TIOCSTI, memory),
		do("shmget", unix.SYS_SHMGET, 0, size, 0o1600),
		do("inotify_init1", unix.SYS_INOTIFY_INIT1, 0),
		do("timerfd_create", unix.SYS_TIMERFD_CREATE, 0, 0),
		do("rt_sigaction", unix.SYS_RT_SIGACTION, uintptr(unix.SIGSYS), 0, memory, 8),
		do("setuid", unix.SYS_SETUID, 0),
		do("read of another descriptor", unix.SYS_READ, 0, memory, 1),
		do("write to another descriptor", unix.SYS_WRITE, 1, memory, 0),
		do("recvfrom another descriptor", unix.SYS_RECVFROM, 0, memory, 0, 0, 0, 0),
		do("a number of the x32 ABI", 0x40000000|unix.SYS_OPENAT, here, file, unix.O_RDONLY),
		do("a number that nobody knows", 4000),
	}
}

// message returns the address of a msghdr that carries a descriptor.
func message(data *byte) uintptr {
	oob := unix.UnixRights(3)
	iov := &unix.Iovec{Base: data, Len: 1}
	m := &unix.Msghdr{Iov: iov, Control: &oob[0]}
	m.Iovlen = 1
	m.SetControllen(len(oob))
	return uintptr(unsafe.Pointer(m))
}

// TestEscapedEngine makes each attempt in a worker of its own: the worker ends by SIGSYS,
// or the attempt fails.
func TestEscapedEngine(t *testing.T) {
	cache, m := t.TempDir(), guest(t, "guests/nested")
	first := reopen(t, cache)
	if err := first.Warm(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	var killed, refused []string
	for _, e := range escapes() {
		p := reopen(t, cache)
		p.spawn = spawning(escaping, e.name)
		result, err := invoke(t, p.Pool, m, `{}`)
		var outcome *fault.Error
		if err != nil {
			outcome = wantFault(t, err, fault.GuestTrap, "violation")
		}
		switch {
		case outcome != nil && strings.Contains(outcome.Message, "bad system call"):
			killed = append(killed, e.name)
		case outcome == nil && strings.HasPrefix(string(result.output), `"refused: `):
			refused = append(refused, e.name)
		default:
			t.Errorf("%s: %s, %v", e.name, result.output, err)
		}
		p.Close()
	}
	t.Logf("%d ended by SIGSYS, refused otherwise: %v", len(killed), refused)
	for _, name := range []string{"openat", "execve", "socket", "ptrace the host", "kill the host"} {
		if !slices.Contains(killed, name) {
			t.Errorf("%s did not end the worker", name)
		}
	}
	mustInvoke(t, first.Pool, m, `{}`)
}

// TestEscapesWouldWork makes some attempts in a worker without walls: they are right.
func TestEscapesWouldWork(t *testing.T) {
	for _, name := range []string{"openat", "socket", "kill itself", "mmap executable", "mprotect executable", "memfd_create", "dup", "pidfd_open", "pipe2"} {
		for _, e := range escapes() {
			if e.name != name {
				continue
			}
			if errno := e.try(); errno != 0 {
				t.Errorf("%s: %v", name, errno)
			}
		}
	}
}
