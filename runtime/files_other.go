//go:build !linux

package runtime

import (
	"os"

	"golang.org/x/sys/unix"
)

const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// openCanonical opens an absolute path of which no part may be a symbolic link.
func openCanonical(canonical string, flags int) (int, error) {
	return walkCanonical(canonical, flags)
}

// renameNew gives a file in the folder its name, unless something has that name.
func renameNew(folder *os.File, from, to string) error { return linkNew(folder, from, to) }

// swapNames is for Linux: elsewhere a file gets a second name before it is replaced.
func swapNames(*os.File, string, string) error { return unix.ENOSYS }
