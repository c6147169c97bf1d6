package permission

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// unlockPTY makes the other side of a pseudo-terminal usable, and names it: ptmx(4).
func unlockPTY(fd int) (device string, err error) {
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return "", err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	return fmt.Sprintf("/dev/pts/%d", n), err
}
