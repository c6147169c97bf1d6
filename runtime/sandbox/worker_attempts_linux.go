package sandbox

import (
	"os"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stages of a worker in which an attempt is made.
const (
	stageLoad    = "load"    // of a worker that will serve
	stageCompile = "compile" // of one that never will
	stageServe   = "serve"
)

// attempt is one thing that a subverted worker would do; try returns nil when it worked.
type attempt struct {
	stage, name string
	try         func(*probed) error
}

// probed is what attempts work with, laid out before the process is confined.
type probed struct {
	cache, outside  string
	inCache, notIn  *byte // paths of a file in either
	program         *byte
	argv            [2]*byte
	buffer          [4096]byte
	page            uintptr
	host, self, tid uintptr
	oldCall         func(number, a, b uintptr) uintptr // amd64's 32-bit entry
	lowPath         uintptr                            // a path that it can reach
}

func newProbed(dir string) (*probed, error) {
	p := &probed{
		cache: filepath.Join(dir, "cache"), outside: filepath.Join(dir, "outside"),
		host: uintptr(os.Getppid()), self: uintptr(os.Getpid()), tid: uintptr(unix.Gettid()),
	}
	p.inCache, p.notIn = text(filepath.Join(p.cache, "file")), text(filepath.Join(p.outside, "file"))
	p.program = text("/proc/self/exe")
	p.argv[0] = p.program
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, err
	}
	p.page = uintptr(unsafe.Pointer(&page[0]))
	return p, p.prepareOldCalls()
}

func text(s string) *byte {
	b, err := unix.BytePtrFromString(s)
	if err != nil {
		panic(err) // our own paths hold no NUL
	}
	return b
}

func workerAttempts() []attempt {
	var all []attempt
	for _, group := range [][]attempt{loadAttempts(), compileAttempts(), processAttempts(), memoryAttempts(), fileAttempts(), kernelAttempts(), oldCallAttempts()} {
		all = append(all, group...)
	}
	return all
}

const here = ^uintptr(99) // AT_FDCWD

func loadAttempts() []attempt {
	return []attempt{
		{stageLoad, "read a file outside the cache", func(p *probed) error { return p.open(p.notIn, unix.O_RDONLY) }},
		{stageLoad, "write a file of the cache", func(p *probed) error { return p.open(p.inCache, unix.O_WRONLY) }},
		{stageLoad, "unlink a file of the cache", func(p *probed) error { return call(unix.SYS_UNLINKAT, here, at(p.inCache), 0) }},
		{stageLoad, "socket", func(*probed) error { return call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0) }},
		{stageLoad, "execve", func(p *probed) error { return call(unix.SYS_EXECVE, at(p.program), at(&p.argv), 0) }},
		{stageLoad, "fork", forked(unix.SYS_CLONE, uintptr(unix.SIGCHLD))},
		{stageLoad, "kill the host", func(p *probed) error { return call(unix.SYS_KILL, p.host, 0) }},
		{stageLoad, "ptrace the host", func(p *probed) error { return call(unix.SYS_PTRACE, unix.PTRACE_ATTACH, p.host, 0, 0) }},
		{stageLoad, "limits of the host", func(p *probed) error {
			return call(unix.SYS_PRLIMIT64, p.host, unix.RLIMIT_CPU, 0, at(&p.buffer))
		}},
		{stageLoad, "outlive the host", func(*probed) error { return call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) }},
		{stageLoad, "memory that is writable and code", func(p *probed) error {
			return call(unix.SYS_MPROTECT, p.page, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC)
		}},
		{stageLoad, "shared memory", mapped(writable, unix.MAP_SHARED|unix.MAP_ANONYMOUS)},
		{stageLoad, "memory that grows", mapped(writable, anonymous|unix.MAP_GROWSDOWN)},
		{stageLoad, "large pages", mapped(writable, anonymous|unix.MAP_HUGETLB)},
		{stageLoad, "memory that became code and counts no more", becomesCode},
	}
}

func compileAttempts() []attempt {
	return []attempt{
		{stageCompile, "read a file outside the cache", func(p *probed) error { return p.open(p.notIn, unix.O_RDONLY) }},
		{stageCompile, "write a file outside the cache", func(p *probed) error { return p.open(p.notIn, unix.O_WRONLY) }},
		{stageCompile, "unlink a file outside the cache", func(p *probed) error { return call(unix.SYS_UNLINKAT, here, at(p.notIn), 0) }},
		{stageCompile, "rename a file out of the cache", func(p *probed) error {
			return call(unix.SYS_RENAMEAT, here, at(p.inCache), here, at(p.notIn))
		}},
		{stageCompile, "set-user-id file", func(p *probed) error {
			return call(unix.SYS_OPENAT, here, at(p.inCache), unix.O_RDWR|unix.O_CREAT, unix.S_ISUID|0o700)
		}},
		{stageCompile, "mode of a descriptor", func(*probed) error { return call(unix.SYS_FCHMOD, 2, 0o777) }},
		{stageCompile, "shared memory", mapped(writable, unix.MAP_SHARED|unix.MAP_ANONYMOUS)},
		{stageCompile, "memory that became code and counts no more", becomesCode},
		{stageCompile, "symbolic link", func(p *probed) error { return call(unix.SYS_SYMLINKAT, at(p.notIn), here, at(p.inCache)) }},
		{stageCompile, "socket", func(*probed) error { return call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0) }},
		{stageCompile, "execve", func(p *probed) error { return call(unix.SYS_EXECVE, at(p.program), at(&p.argv), 0) }},
	}
}

func processAttempts() []attempt {
	return []attempt{
		serving("execve", func(p *probed) error { return call(unix.SYS_EXECVE, at(p.program), at(&p.argv), 0) }),
		serving("execveat", func(p *probed) error { return call(unix.SYS_EXECVEAT, here, at(p.program), at(&p.argv), 0, 0) }),
		serving("clone a process", forked(unix.SYS_CLONE, uintptr(unix.SIGCHLD))),
		serving("clone into a user namespace", forked(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD))),
		serving("clone a thread into a user namespace", forked(unix.SYS_CLONE, runtimeThread|threadPointer|unix.CLONE_NEWUSER)),
		serving("clone3", func(p *probed) error { return call(unix.SYS_CLONE3, at(&p.buffer), 88) }),
		serving("ptrace the host", func(p *probed) error { return call(unix.SYS_PTRACE, unix.PTRACE_ATTACH, p.host, 0, 0) }),
		serving("ptrace itself", func(*probed) error { return call(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0, 0) }),
		serving("kill the host", func(p *probed) error { return call(unix.SYS_KILL, p.host, 0) }),
		serving("tkill the host", func(p *probed) error { return call(unix.SYS_TKILL, p.host, 0) }),
		serving("tgkill the host", func(p *probed) error { return call(unix.SYS_TGKILL, p.host, p.host, uintptr(unix.SIGURG)) }),
		serving("tgkill itself with another signal", func(p *probed) error { return call(unix.SYS_TGKILL, p.self, p.tid, 0) }),
		serving("rt_sigqueueinfo", func(p *probed) error { return call(unix.SYS_RT_SIGQUEUEINFO, p.host, 0, at(&p.buffer)) }),
		serving("pidfd_open", func(p *probed) error { return call(unix.SYS_PIDFD_OPEN, p.host, 0) }),
		serving("process_vm_readv", func(p *probed) error {
			return call(unix.SYS_PROCESS_VM_READV, p.host, at(&p.buffer), 0, at(&p.buffer), 0, 0)
		}),
		serving("prctl no_new_privs", func(*probed) error { return call(unix.SYS_PRCTL, unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) }),
		serving("prctl pdeathsig", func(*probed) error { return call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) }),
		serving("prctl dumpable", func(*probed) error { return call(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }),
		serving("capset", func(p *probed) error { return call(unix.SYS_CAPSET, at(&p.buffer), at(&p.buffer)) }),
		serving("setuid", func(*probed) error { return call(unix.SYS_SETUID, uintptr(os.Getuid())) }),
		serving("prlimit of itself", func(p *probed) error { return call(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_DATA, 0, at(&p.buffer)) }),
		serving("prlimit of the host", func(p *probed) error { return call(unix.SYS_PRLIMIT64, p.host, unix.RLIMIT_CPU, 0, at(&p.buffer)) }),
		serving("unshare", func(*probed) error { return call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER) }),
		serving("setns", func(*probed) error { return call(unix.SYS_SETNS, SocketFD, 0) }),
		serving("rt_sigaction", func(p *probed) error { return call(unix.SYS_RT_SIGACTION, uintptr(unix.SIGUSR1), 0, at(&p.buffer), 8) }),
		serving("timer_create", func(p *probed) error { return call(unix.SYS_TIMER_CREATE, 0, 0, at(&p.buffer)) }),
	}
}

func memoryAttempts() []attempt {
	return []attempt{
		serving("mmap code", mapped(writable|unix.PROT_EXEC, anonymous)),
		// What RLIMIT_DATA does not count.
		serving("mmap shared memory", mapped(writable, unix.MAP_SHARED|unix.MAP_ANONYMOUS)),
		serving("mmap memory that grows", mapped(writable, anonymous|unix.MAP_GROWSDOWN)),
		serving("mmap memory that is only read", mapped(unix.PROT_READ, anonymous)),
		serving("mprotect memory out of the count", func(p *probed) error { return call(unix.SYS_MPROTECT, p.page, 4096, unix.PROT_READ) }),
		serving("mmap large pages", mapped(writable, anonymous|unix.MAP_HUGETLB)),
		serving("mmap locked memory", mapped(writable, anonymous|unix.MAP_LOCKED)),
		serving("mmap a descriptor", func(*probed) error {
			return call(unix.SYS_MMAP, 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE, SocketFD, 0)
		}),
		serving("mprotect code", func(p *probed) error { return call(unix.SYS_MPROTECT, p.page, 4096, unix.PROT_READ|unix.PROT_EXEC) }),
		serving("pkey_mprotect code", func(p *probed) error {
			return call(unix.SYS_PKEY_MPROTECT, p.page, 4096, unix.PROT_READ|unix.PROT_EXEC, nowhere)
		}),
		serving("mremap", func(p *probed) error { return call(unix.SYS_MREMAP, p.page, 4096, 8192, unix.MREMAP_MAYMOVE, 0) }),
		serving("personality that makes all memory code", func(*probed) error { return call(unix.SYS_PERSONALITY, 0x400000) }),
		serving("memfd_create", func(p *probed) error { return call(unix.SYS_MEMFD_CREATE, at(&p.buffer), 0) }),
		serving("userfaultfd", func(*probed) error { return call(unix.SYS_USERFAULTFD, 0) }),
	}
}

const (
	writable  = unix.PROT_READ | unix.PROT_WRITE
	anonymous = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
	nowhere   = ^uintptr(0) // no descriptor
)

func mapped(protection, flags uintptr) func(*probed) error {
	return func(*probed) error { return call(unix.SYS_MMAP, 0, 4096, protection, flags, nowhere, 0) }
}

// becomesCode maps far more than a worker may, and makes each part code before the next. It
// touches nothing of it.
func becomesCode(*probed) error {
	const part, parts = 256 << 20, 64
	for range parts {
		start, _, errno := syscall.RawSyscall6(unix.SYS_MMAP, 0, part, writable, anonymous, nowhere, 0)
		if errno != 0 {
			return errno
		}
		if err := call(unix.SYS_MPROTECT, start, part, unix.PROT_READ|unix.PROT_EXEC); err != nil {
			return err
		}
	}
	return nil
}

func fileAttempts() []attempt {
	return []attempt{
		serving("openat outside the cache", func(p *probed) error { return p.open(p.notIn, unix.O_RDONLY) }),
		serving("openat in the cache", func(p *probed) error { return p.open(p.inCache, unix.O_RDONLY) }),
		serving("openat2", func(p *probed) error { return call(unix.SYS_OPENAT2, here, at(p.notIn), at(&p.buffer), 24) }),
		serving("socket", func(*probed) error { return call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0) }),
		serving("socketpair", func(p *probed) error {
			return call(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, at(&p.buffer))
		}),
		serving("dup", func(*probed) error { return call(unix.SYS_DUP, SocketFD) }),
		serving("fcntl that duplicates", func(*probed) error { return call(unix.SYS_FCNTL, SocketFD, unix.F_DUPFD, 10) }),
		serving("sendmsg", func(p *probed) error { return call(unix.SYS_SENDMSG, SocketFD, at(&p.buffer), 0) }),
		serving("recvmsg", func(p *probed) error { return call(unix.SYS_RECVMSG, SocketFD, at(&p.buffer), unix.MSG_DONTWAIT) }),
		serving("recvfrom another descriptor", func(p *probed) error {
			return call(unix.SYS_RECVFROM, 0, at(&p.buffer), 16, unix.MSG_DONTWAIT, 0, 0)
		}),
		serving("read another descriptor", func(p *probed) error { return call(unix.SYS_READ, 0, at(&p.buffer), 16) }),
		serving("write another descriptor", func(p *probed) error { return call(unix.SYS_WRITE, 1, at(&p.buffer), 16) }),
		serving("ioctl", func(p *probed) error { return call(unix.SYS_IOCTL, SocketFD, unix.TIOCINQ, at(&p.buffer)) }),
		serving("unlinkat", func(p *probed) error { return call(unix.SYS_UNLINKAT, here, at(p.notIn), 0) }),
		serving("truncate", func(p *probed) error { return call(unix.SYS_TRUNCATE, at(p.notIn), 0) }),
		serving("mount", func(p *probed) error { return call(unix.SYS_MOUNT, at(&p.buffer), at(&p.buffer), at(&p.buffer), 0, 0) }),
		serving("chroot", func(p *probed) error { return call(unix.SYS_CHROOT, at(text(p.outside))) }),
	}
}

func kernelAttempts() []attempt {
	return []attempt{
		serving("seccomp", func(p *probed) error {
			return call(unix.SYS_SECCOMP, unix.SECCOMP_GET_NOTIF_SIZES, 0, at(&p.buffer))
		}),
		serving("io_uring_setup", func(p *probed) error { return call(unix.SYS_IO_URING_SETUP, 8, at(&p.buffer)) }),
		serving("bpf", func(p *probed) error { return call(unix.SYS_BPF, 0, at(&p.buffer), 64) }),
		serving("perf_event_open", func(p *probed) error { return call(unix.SYS_PERF_EVENT_OPEN, at(&p.buffer), 0, 0, 0, 0) }),
		serving("clock_settime", func(p *probed) error { return call(unix.SYS_CLOCK_SETTIME, 99, at(&p.buffer)) }),
	}
}

func serving(name string, try func(*probed) error) attempt { return attempt{stageServe, name, try} }

func (p *probed) open(path *byte, flags uintptr) error {
	return call(unix.SYS_OPENAT, here, at(path), flags, 0)
}

// forked makes a call that returns twice when it works.
func forked(number uintptr, args ...uintptr) func(*probed) error {
	return func(*probed) error {
		var a [6]uintptr
		copy(a[:], args)
		r, _, errno := syscall.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
		if errno != 0 {
			return errno
		}
		if r == 0 {
			_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		return nil
	}
}

func at[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// call makes a system call by its number. What at points to belongs to probed, which does
// not move: it is on the heap.
func call(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, errno := syscall.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}
