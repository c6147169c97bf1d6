package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// confine gives up, for the init and all that it will start, whatever could undo the
// sandbox.
func (s *stage) confine() error {
	return steps(
		step{"giving up new privileges", noNewPrivileges},
		step{"emptying the bounding set", emptyBoundingSet},
		step{"giving up capabilities", dropCapabilities},
		step{"restricting files", s.restrictFiles},
		step{"refusing system calls", func() error { return commandCalls().install() }},
		step{"dropping signal handlers", dropHandlers},
		// The program runs under the same user as the init. Of a process that is not
		// dumpable it can read neither memory nor descriptors, and trace nothing.
		step{"hiding the init", func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }},
	)
}

// emptyBoundingSet does so for the thread that starts the program; no other ever executes
// anything. To stop all threads for each of forty capabilities takes longer than all the
// rest of the sandbox.
func emptyBoundingSet() error {
	for c := uintptr(0); ; c++ {
		switch err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err {
		case nil:
		case unix.EINVAL:
			return nil // past the last one that the kernel knows
		default:
			return fmt.Errorf("dropping capability %d: %w", c, err)
		}
	}
}

// dropHandlers undoes the handlers of the runtime, which would end the init at the program's
// word: a signal without a handler that comes from inside does nothing to a process 1. What
// stays is what the runtime uses itself, its preemption and the one for system calls in all
// threads. It comes after the last of those. Ignoring signals would be handed down.
func dropHandlers() error {
	const last, ofRuntime, maskBytes = 64, 33, 8
	var none [8]uint64 // at least a kernel's struct sigaction: SIG_DFL, no flags
	for number := uintptr(1); number <= last; number++ {
		switch number {
		case uintptr(unix.SIGKILL), uintptr(unix.SIGSTOP), uintptr(unix.SIGURG), ofRuntime:
			continue
		}
		if err := call(unix.SYS_RT_SIGACTION, number, at(&none), 0, maskBytes); err != nil {
			return fmt.Errorf("signal %d: %w", number, err)
		}
	}
	return nil
}

// restrictFiles is a second fence: Landlock allows reading of what is there, and writing
// where mounts allow it. It says nothing about the network, which is a namespace of its own.
func (s *stage) restrictFiles() error {
	s.held.Landlock = landlockVersion()
	if s.held.Landlock == 0 {
		return nil // the report says so
	}
	config := landlockConfigs()[s.held.Landlock-1]
	config.HandledAccessNet = 0
	if signalsBreakThreads() {
		config.Scoped &^= ll.ScopeSignal
	}
	rules, err := s.fileRules()
	if err != nil {
		return err
	}
	if err := config.Restrict(rules...); err != nil {
		return fmt.Errorf("Landlock version %d: %w", s.held.Landlock, err)
	}
	return nil
}

func (s *stage) fileRules() ([]landlock.Rule, error) {
	rules := []landlock.Rule{
		landlock.RODirs("/"),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"),
		// A process writes files of its own there: comm, oom_score_adj. All that is not a
		// process's own is mounted read-only or covered.
		landlock.PathAccess(ll.AccessFSWriteFile, "/proc"),
	}
	if s.self >= 0 {
		rules = append(rules, landlock.ROFiles("/proc/self/exe"))
	}
	for _, target := range s.root.rw {
		info, err := os.Lstat(target)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
			continue // covered by a later mount
		}
		if err != nil {
			return nil, err
		}
		switch {
		case !info.IsDir():
			rules = append(rules, landlock.RWFiles(target))
		case s.held.Landlock > 1:
			rules = append(rules, landlock.RWDirs(target).WithRefer())
		default:
			rules = append(rules, landlock.RWDirs(target))
		}
	}
	return rules, nil
}

// commandCalls is the list of what a command is refused. Programs need too much for a list
// of what they may; the namespaces hold by themselves, and this closes what they leave open
// and what makes the kernel's surface large for no use of a tool.
//
// What stays: ptrace and process_vm_readv, for debuggers and sanitizers: they reach only
// processes in this PID namespace, and not the init. seccomp and landlock, for programs that
// confine themselves further.
func commandCalls() systemCalls {
	return systemCalls{
		otherwise:  seccomp.ActionAllow,
		refuse:     strings.Fields(strings.Join(refusedGroups(), " ")),
		refuseWhen: commandConditions(),
	}
}

func refusedGroups() []string {
	return []string{
		// Mounts. They take a capability that nobody inside has; a kernel bug that gives
		// one should not give this too.
		"mount umount umount2 pivot_root chroot move_mount open_tree open_tree_attr",
		"fsopen fsconfig fsmount fspick mount_setattr swapon swapoff quotactl quotactl_fd",
		// Namespaces, where a process would have capabilities. clone with such flags is
		// among the conditions; clone3 does not exist here, see install.
		"unshare setns",
		// What has let unprivileged users into the kernel time and again.
		"bpf perf_event_open userfaultfd",
		// What commands the machine.
		"kexec_load kexec_file_load init_module finit_module delete_module create_module",
		"reboot acct syslog iopl ioperm lookup_dcookie uselib nfsservctl vhangup",
		// Keyrings, which no namespace holds: the session's keys are the person's.
		"add_key request_key keyctl",
		// Clocks, which no namespace holds.
		"clock_settime settimeofday stime adjtimex clock_adjtime",
		"sethostname setdomainname",
		// Files past the mounts: by handle, or on any path.
		"open_by_handle_at fanotify_init",
		// What does as other calls do without asking this list: an io_uring opens sockets.
		"io_uring_setup io_uring_enter io_uring_register",
	}
}

const (
	// namespaceFlags of clone(2).
	namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	// datagramBit is set in SOCK_DGRAM and SOCK_RAW, not in SOCK_STREAM and SOCK_SEQPACKET.
	datagramBit = 2
	// addressNoRandomize of personality(2) is what debuggers and sanitizers set.
	addressNoRandomize = 0x40000
	tiocLinux          = 0x541c
	perLinux32         = 8
)

func commandConditions() []seccomp.NameWithConditions {
	not := func(argument uint32, value uint64) seccomp.Condition {
		return seccomp.Condition{Argument: argument, Operation: seccomp.NotEqual, Value: value}
	}
	return []seccomp.NameWithConditions{
		when("clone", some(0, namespaceFlags)),
		// Sockets are of the internet only, which is this namespace's loopback. AF_UNIX
		// reaches by path: a socket of an agent, a container engine or a session that lies
		// in a mounted folder takes orders from whoever connects. AF_NETLINK, AF_PACKET and
		// AF_ALG are the kernel's own surface; AF_VSOCK, a virtual machine's line to its
		// host, knows no namespace. The kernel looks at 32 bits: a value with higher bits
		// set is none of the two, and refused.
		when("socket", not(0, unix.AF_INET), not(0, unix.AF_INET6)),
		// A pair is connected to itself and programs talk to their children through it. A
		// datagram socket can be sent anywhere all the same, by sendto with a path.
		when("socketpair", not(0, unix.AF_UNIX)),
		when("socketpair", some(1, datagramBit)),
		// Typing into a terminal as if the person did, and into the console.
		when("ioctl", low(1, unix.TIOCSTI)...),
		when("ioctl", low(1, tiocLinux)...),
		// What is not a known harmless personality: one makes all memory code.
		when("personality", not(0, 0), not(0, 0xffffffff), not(0, addressNoRandomize), not(0, perLinux32), not(0, perLinux32|addressNoRandomize)),
	}
}

// limit sets the limits that processes inherit, and notes what holds each.
func (s *stage) limit(held joined) error {
	l := s.Limits
	limits := []limit{
		{"core", unix.RLIMIT_CORE, 0},
		{"cpu", unix.RLIMIT_CPU, uint64(l.CPUSeconds)},
		{"file", unix.RLIMIT_FSIZE, uint64(l.FileBytes)},
		{"descriptors", unix.RLIMIT_NOFILE, uint64(l.OpenFiles)},
	}
	if held.Memory == "" {
		held.Memory = "rlimit, each process"
		limits = append(limits, limit{"memory", unix.RLIMIT_DATA, uint64(l.MemoryBytes)})
	}
	if held.Processes == "" && !s.Root && kernelAtLeast(5, 14) {
		// Since then the count is that of the user in this namespace, not of all its
		// processes on the machine. It never binds the real root.
		held.Processes = "rlimit"
		limits = append(limits, limit{"processes", unix.RLIMIT_NPROC, uint64(l.Processes + initTasks)})
	}
	s.held.Layers = s.root.layers
	s.held.Limits = []Held{
		{"memory", l.MemoryBytes, held.Memory},
		{"cpu", l.CPUSeconds, "rlimit, each process"},
		{"file", l.FileBytes, "rlimit"},
		{"descriptors", l.OpenFiles, "rlimit, each process"},
		{"processes", l.Processes, held.Processes},
		{"tmp", l.TmpBytes, "size of the file system"},
	}
	return setLimits(limits)
}

// kernelAtLeast compares the kernel's version.
func kernelAtLeast(major, minor int) bool {
	var a, b int
	if _, err := fmt.Sscanf(kernelRelease(), "%d.%d", &a, &b); err != nil {
		return false
	}
	return a > major || a == major && b >= minor
}

func kernelRelease() string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}
