package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Executable is the path by which this program starts itself again, also after its file
// was replaced.
func Executable() (string, error) { return "/proc/self/exe", nil }

func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// Load gives up, for good, what loading a module does not need. It comes before the worker
// looks at a byte of it.
func (w Worker) Load() error {
	// The netpoller comes into being with the first timer and opens descriptors then,
	// which the stage after this one forbids.
	time.Sleep(time.Microsecond)
	if err := closeInherited(); err != nil {
		return err
	}
	if err := noNewPrivileges(); err != nil {
		return err
	}
	files := uint64(0)
	if w.Cache {
		files = cacheFileBytes
	}
	return setLimits([]limit{
		{"core", unix.RLIMIT_CORE, 0},
		{"data", unix.RLIMIT_DATA, CompileBytes},
		{"fsize", unix.RLIMIT_FSIZE, files},
		{"nofile", unix.RLIMIT_NOFILE, 32},
	})
}

// Serve gives up what only loading needed. It comes before the guest's first instruction.
// The data limit is sized by what is mapped already, for the compiler leaves memory mapped
// that the runtime gave back.
func (w Worker) Serve() error {
	mapped, err := statm("self", statmData)
	if err != nil {
		return err
	}
	return setLimits([]limit{
		{"data", unix.RLIMIT_DATA, uint64(mapped + w.MemoryBytes + overheadBytes)},
		{"fsize", unix.RLIMIT_FSIZE, 0},
		{"nofile", unix.RLIMIT_NOFILE, 0},
	})
}

type limit struct {
	name     string
	resource int
	value    uint64
}

// setLimits lowers limits, and leaves those alone that are lower already.
func setLimits(limits []limit) error {
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("reading rlimit %s: %w", l.name, err)
		}
		v := min(l.value, now.Max)
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: v, Max: v}); err != nil {
			return fmt.Errorf("setting rlimit %s to %d: %w", l.name, v, err)
		}
	}
	return nil
}

// closeInherited closes what the parent handed down without meaning to. What survived
// an exec does not carry FD_CLOEXEC; what this process opened itself does.
func closeInherited() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("listing descriptors: %w", err)
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= SocketFD {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
	return nil
}

// noNewPrivileges reaches all threads where the runtime can do that (not under cgo), and
// otherwise this one with those that it starts.
func noNewPrivileges() error {
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0)
	if errno == syscall.ENOTSUP {
		return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	if errno != 0 {
		return fmt.Errorf("setting no_new_privs: %w", errno)
	}
	return nil
}

// Fields of statm.
const (
	statmResident = 1
	statmData     = 5 // what the kernel counts against RLIMIT_DATA
)

// statm returns one measure of a process's memory, in bytes.
func statm(process string, field int) (int64, error) {
	text, err := os.ReadFile("/proc/" + process + "/statm")
	if err != nil {
		return 0, fmt.Errorf("measuring a process: %w", err)
	}
	fields := bytes.Fields(text)
	if len(fields) <= field {
		return 0, fmt.Errorf("measuring a process: statm reads %q", text)
	}
	pages, err := strconv.ParseInt(string(fields[field]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// ResidentBytes is how much memory a process holds; 0 when it is gone.
func ResidentBytes(pid int) int64 {
	n, _ := statm(strconv.Itoa(pid), statmResident)
	return n
}
