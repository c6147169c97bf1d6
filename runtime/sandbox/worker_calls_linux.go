package sandbox

import (
	"os"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	// runtimeThread is what the Go runtime passes to clone; amd64 adds CLONE_SETTLS.
	runtimeThread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM | unix.CLONE_THREAD
	// runtimeMemory is what the Go runtime, a guest's memory, the C library and the race
	// detector pass to mmap, and nothing else may be. RLIMIT_DATA counts memory that is
	// private and can be written; it does not count what is shared, nor a stack that grows.
	// Large and locked pages are the machine's, which others go short of.
	runtimeMemory = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_FIXED | unix.MAP_NORESERVE | unix.MAP_STACK
	// specialModes of a file: set-user-id, set-group-id and sticky.
	specialModes = 0o7000
)

// servingCalls lists what the Go runtime does by itself, and reading and writing where the
// worker has to. Nothing on it opens a descriptor or makes memory executable.
func (w *Worker) servingCalls() systemCalls {
	calls := runtimeCalls()
	calls.allowWhen = append(calls.allowWhen, w.writing()...)
	calls.allowWhen = append(calls.allowWhen, on("read", append(w.loaded.wakers, SocketFD)...)...)
	return calls
}

// loadingCalls lists reading files, making code executable that is no longer writable, and
// the calls that Serve makes.
func (w *Worker) loadingCalls() systemCalls {
	calls := runtimeCalls()
	calls.allow = append(calls.allow, "read", "pread64", "close", "lseek", "fstat", "newfstatat", "fstatat", "fcntl", "getdents64", "epoll_ctl")
	calls.allowWhen = append(calls.allowWhen,
		when("mprotect", is(2, unix.PROT_READ|unix.PROT_EXEC)),
		when("prlimit64", is(0, 0)),
		when("prctl", is(0, unix.PR_SET_MDWE)),
		when("seccomp", is(0, unix.SECCOMP_SET_MODE_FILTER)))
	// wazero asks for large pages where the size of the code allows it, and does without.
	calls.refuseWhen = append(calls.refuseWhen, when("mmap", some(3, unix.MAP_HUGETLB)))
	if w.Compile {
		return withFiles(calls)
	}
	calls.allowWhen = append(calls.allowWhen, w.writing()...)
	if w.CacheDir != "" {
		calls.allowWhen = append(calls.allowWhen, when("openat", none(2, unix.O_ACCMODE|unix.O_CREAT|unix.O_TRUNC)))
	}
	return calls
}

// withFiles adds what changes files and folders. Landlock says which. A file with a special
// mode would be a gift to others on the machine; none is made.
func withFiles(calls systemCalls) systemCalls {
	calls.allow = append(calls.allow, "write", "pwrite64", "copy_file_range", "ftruncate", "fsync", "fdatasync",
		"rename", "renameat", "renameat2", "unlink", "unlinkat")
	calls.allowWhen = append(calls.allowWhen,
		when("openat", none(3, specialModes)), when("mkdir", none(1, specialModes)), when("mkdirat", none(2, specialModes)))
	return calls
}

// writing is what a worker that serves may write to: the host, its own poller, and stderr
// for the runtime's last words.
func (w *Worker) writing() []seccomp.NameWithConditions {
	return on("write", append(w.loaded.wakers, SocketFD, 2)...)
}

// on names a call with each of these descriptors.
func on(name string, fds ...int) (calls []seccomp.NameWithConditions) {
	for _, fd := range fds {
		calls = append(calls, when(name, is(0, uint64(fd))))
	}
	return calls
}

// runtimeCalls lists threads, memory and time.
func runtimeCalls() systemCalls {
	ours := []seccomp.Condition{none(3, ^uint64(runtimeMemory)), some(3, unix.MAP_PRIVATE), some(3, unix.MAP_ANONYMOUS)}
	calls := systemCalls{
		otherwise: seccomp.ActionKillProcess,
		allow: []string{
			"futex",       // every lock and every parked thread
			"nanosleep",   // the runtime's monitor
			"sched_yield", // spinning locks
			"epoll_pwait", // timers wait here
			"madvise",     // memory given back
			"munmap",
			"rt_sigreturn",   // the end of every preemption
			"rt_sigprocmask", // each new thread, with the two below
			"sigaltstack",
			"gettid",
			"getpid",        // before a thread is preempted
			"clock_gettime", // where the vDSO does not serve
			"getrandom",     // likewise
			"exit",
			"exit_group",
			"restart_syscall", // the kernel's own, after a stop
		},
		allowWhen: []seccomp.NameWithConditions{
			// Memory that was writable and no longer is would drop out of the count of
			// RLIMIT_DATA with all that it holds.
			when("mmap", append(ours, is(2, unix.PROT_NONE))...),
			when("mmap", append(ours, is(2, writable))...),
			when("mmap", is(2, writable), is(3, unix.MAP_DROPPABLE|unix.MAP_ANONYMOUS)), // the state of random numbers, counted
			when("mprotect", is(2, writable)),
			when("clone", is(0, runtimeThread|threadPointer)),
			when("tgkill", is(0, uint64(os.Getpid())), is(2, uint64(unix.SIGURG))),
			when("recvfrom", is(0, SocketFD)), // a read that does not wait
		},
	}
	calls.allow = append(calls.allow, libraryCalls()...)
	calls.allowWhen = append(calls.allowWhen, libraryCallsWhen()...)
	return calls
}

// files are the rules for the one folder that the worker may reach. A file moves between
// folders where the kernel's version of Landlock can allow that.
func (w *Worker) files(version int) []landlock.Rule {
	if w.CacheDir == "" {
		return nil
	}
	rights := landlock.AccessFSSet(ll.AccessFSReadFile | ll.AccessFSReadDir)
	if w.Compile {
		rights |= ll.AccessFSWriteFile | ll.AccessFSMakeReg | ll.AccessFSMakeDir | ll.AccessFSRemoveFile | ll.AccessFSRemoveDir
		if version >= 2 {
			rights |= ll.AccessFSRefer
		}
		if version >= 3 {
			rights |= ll.AccessFSTruncate
		}
	}
	return []landlock.Rule{landlock.PathAccess(rights, w.CacheDir)}
}
