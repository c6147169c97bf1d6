package sandbox

// What both profiles are made of: things that a process gives up for good, in all of its
// threads. Nothing here can be taken back, and nothing here knows a profile.

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// noNewPrivileges makes an exec keep what was given up: set-user-id bits and file
// capabilities no longer count.
func noNewPrivileges() error {
	if errno := allThreads(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1); errno != 0 {
		return fmt.Errorf("setting no_new_privs: %w", errno)
	}
	return nil
}

// dropCapabilities empties all five sets. Only who has CAP_SETPCAP can empty the bounding
// set; whoever has not stays with it, and gains nothing by it once no_new_privs is set.
func dropCapabilities() error {
	if err := dropBoundingSet(); err != nil && !errors.Is(err, unix.EPERM) {
		return err
	}
	if errno := allThreads(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL); errno != 0 {
		return fmt.Errorf("clearing the ambient capabilities: %w", errno)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	errno := allThreads(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)))
	if errno != 0 {
		return fmt.Errorf("dropping capabilities: %w", errno)
	}
	return nil
}

// dropBoundingSet drops one capability at a time, which stops all threads each time, about
// 3 ms in all: boundThread spares that.
func dropBoundingSet() error {
	return eachBound(func(c uintptr) syscall.Errno { return allThreads(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c) })
}

// boundThread empties the bounding set of the calling thread, and so that of all processes
// it starts. The error is EPERM where it may not. It is for a thread that is locked to its
// goroutine and starts nothing that needs a capability.
func boundThread() error {
	return eachBound(func(c uintptr) syscall.Errno {
		_, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0)
		return errno
	})
}

// eachBound drops what the calling thread still has in its bounding set. The error is EPERM
// where it may not.
func eachBound(drop func(c uintptr) syscall.Errno) error {
	for c := uintptr(0); ; c++ {
		held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if err == unix.EINVAL {
			return nil // past the last one that the kernel knows
		}
		if err != nil {
			return fmt.Errorf("reading the bounding set: %w", err)
		}
		if held == 0 {
			continue
		}
		if errno := drop(c); errno != 0 {
			return fmt.Errorf("dropping capability %d from the bounding set: %w", c, errno)
		}
	}
}

// allThreads makes a system call in every thread of the process, also in those of C, which
// syscall.AllThreadsSyscall refuses to do.
//
//go:uintptrescapes
func allThreads(number uintptr, args ...uintptr) syscall.Errno {
	var a [5]uintptr
	copy(a[:], args)
	_, _, errno := psx.Syscall6(number, a[0], a[1], a[2], a[3], a[4], 0)
	return errno
}
