package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// closeInherited closes what the parent handed down without meaning to. What survived
// an exec does not carry FD_CLOEXEC; what this process opened itself does. It returns the
// descriptors through which the runtime wakes its poller.
func closeInherited() (wakers []int, err error) {
	// The poller comes into being with the first timer and opens descriptors then, which
	// a serving worker may not do.
	time.Sleep(time.Microsecond)
	const descriptors = "/proc/self/fd/"
	entries, err := os.ReadDir(descriptors)
	if err != nil {
		return nil, fmt.Errorf("listing descriptors: %w", err)
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= SocketFD {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil {
			continue // the one that listed the others
		}
		if flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
			continue
		}
		if target, _ := os.Readlink(descriptors + e.Name()); target == "anon_inode:[eventfd]" {
			wakers = append(wakers, fd)
		}
	}
	if len(wakers) == 0 {
		return nil, errors.New("listing descriptors: the runtime has no poller yet")
	}
	return wakers, nil
}
