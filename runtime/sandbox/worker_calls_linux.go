package sandbox

import (
	"os"
	"slices"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// runtimeThread is what the Go runtime passes to clone; amd64 adds CLONE_SETTLS.
const runtimeThread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM | unix.CLONE_THREAD

// servingCalls lists what the Go runtime does by itself, and reading and writing where the
// worker has to. Nothing on it opens a descriptor or makes memory executable.
func (w *Worker) servingCalls() systemCalls {
	calls := runtimeCalls()
	for _, fd := range append([]int{SocketFD}, w.loaded.wakers...) {
		calls.allowWhen = append(calls.allowWhen, when("read", is(0, uint64(fd))), when("write", is(0, uint64(fd))))
	}
	calls.allowWhen = append(calls.allowWhen,
		when("write", is(0, 2)),           // the runtime's last words
		when("recvfrom", is(0, SocketFD))) // a read that does not wait
	return calls
}

// loadingCalls adds files, making code executable that is no longer writable, and the calls
// that Serve makes.
func (w *Worker) loadingCalls() systemCalls {
	calls := w.servingCalls()
	calls.allowWhen = slices.DeleteFunc(calls.allowWhen, func(c seccomp.NameWithConditions) bool { return c.Name == "read" })
	calls.allow = append(calls.allow, "read", "pread64", "close", "lseek", "fstat", "newfstatat", "fstatat", "fcntl", "getdents64", "epoll_ctl")
	calls.allowWhen = append(calls.allowWhen,
		when("mprotect", none(2, unix.PROT_WRITE)),
		when("prlimit64", is(0, 0)),
		when("prctl", is(0, unix.PR_SET_MDWE)),
		when("seccomp", is(0, unix.SECCOMP_SET_MODE_FILTER)))
	switch {
	case w.Compile:
		return withWriting(calls)
	case w.CacheDir != "":
		calls.allowWhen = append(calls.allowWhen, when("openat", none(2, unix.O_ACCMODE|unix.O_CREAT|unix.O_TRUNC)))
	}
	return calls
}

// withWriting adds what changes files and folders. Landlock says which.
func withWriting(calls systemCalls) systemCalls {
	calls.allowWhen = slices.DeleteFunc(calls.allowWhen, func(c seccomp.NameWithConditions) bool { return c.Name == "write" })
	calls.allow = append(calls.allow, "openat", "write", "pwrite64", "copy_file_range", "ftruncate", "fsync", "fdatasync",
		"fchmod", "mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat")
	return calls
}

// runtimeCalls lists threads, memory and time.
func runtimeCalls() systemCalls {
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
			when("mmap", none(2, unix.PROT_EXEC), some(3, unix.MAP_ANONYMOUS)),
			when("mprotect", none(2, unix.PROT_EXEC)),
			when("clone", is(0, runtimeThread|threadPointer)),
			when("tgkill", is(0, uint64(os.Getpid())), is(2, uint64(unix.SIGURG))),
		},
	}
	calls.allow = append(calls.allow, libraryCalls()...)
	calls.allowWhen = append(calls.allowWhen, libraryCallsWhen()...)
	return calls
}

// files are the rules for the one folder that the worker may reach. A file moves between
// folders where the kernel's version of Landlock can allow that.
func (w *Worker) files() []landlock.Rule {
	if w.CacheDir == "" {
		return nil
	}
	rights := landlock.AccessFSSet(ll.AccessFSReadFile | ll.AccessFSReadDir)
	if w.Compile {
		rights |= ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSMakeReg | ll.AccessFSMakeDir |
			ll.AccessFSRemoveFile | ll.AccessFSRemoveDir
		if landlockVersion() >= 2 {
			rights |= ll.AccessFSRefer
		}
	}
	if landlockVersion() < 3 {
		rights &^= ll.AccessFSTruncate
	}
	return []landlock.Rule{landlock.PathAccess(rights, w.CacheDir)}
}
