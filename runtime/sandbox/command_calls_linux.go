package sandbox

import (
	"strings"

	"github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// commandCalls is the list of what a command is refused. Programs need too much for a list
// of what they may; the namespaces hold by themselves, and this closes what they leave open
// and what makes the kernel's surface large for no use of a tool.
//
// What stays: ptrace and process_vm_readv, for debuggers and sanitizers: they reach only
// processes in this PID namespace, and not the init. seccomp and landlock, for programs that
// confine themselves further.
func commandCalls() systemCalls {
	return systemCalls{
		otherwise: seccomp.ActionAllow,
		// Its mode lies in memory, where no filter can look; see withoutSetID.
		absent:     []string{"openat2"},
		refuse:     strings.Fields(strings.Join(refusedGroups(), " ")),
		refuseWhen: append(commandConditions(), withoutSetID()...),
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
		// Any personality but those known as harmless. Another one makes all memory that
		// can be read executable.
		when("personality", not(0, 0), not(0, 0xffffffff), not(0, addressNoRandomize), not(0, perLinux32), not(0, perLinux32|addressNoRandomize)),
	}
}

// withoutSetID refuses to make a file that runs under its owner's or its group's rights. The
// bits count for nothing in here, but in a folder of the host they would count outside: for
// everybody there the file would be a way to become the user who runs air. The kernel looks
// at a mode in open only where that may create a file. mkdir is left alone: it makes no file
// and the kernel takes no such bit from it, a folder has its parent's.
func withoutSetID() (conditions []seccomp.NameWithConditions) {
	const temporary = unix.O_TMPFILE &^ unix.O_DIRECTORY
	setID := func(argument uint32) seccomp.Condition { return some(argument, unix.S_ISUID|unix.S_ISGID) }
	for _, c := range []struct {
		name string
		mode uint32 // which argument
	}{
		{"chmod", 1}, {"fchmod", 1}, {"fchmodat", 2}, {"fchmodat2", 2},
		{"creat", 1}, {"mknod", 1}, {"mknodat", 2},
	} {
		conditions = append(conditions, when(c.name, setID(c.mode)))
	}
	return append(conditions,
		when("open", some(1, unix.O_CREAT|temporary), setID(2)),
		when("openat", some(2, unix.O_CREAT|temporary), setID(3)))
}
