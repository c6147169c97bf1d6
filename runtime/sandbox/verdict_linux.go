package sandbox

import (
	"errors"

	"golang.org/x/sys/unix"
)

// verdict says what the outcome of an attempt proves. An error that says that the kernel
// looked at the arguments, which are often wrong so that nothing comes of it, is no refusal.
func verdict(err error) (refused bool, how string) {
	if err == nil {
		return false, "it worked"
	}
	for _, looked := range []unix.Errno{unix.EINVAL, unix.EFAULT, unix.EBADF, unix.ENOTTY} {
		if errors.Is(err, looked) {
			return false, "it reached the kernel: " + err.Error()
		}
	}
	return true, err.Error()
}
