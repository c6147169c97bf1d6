package runtime

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// folderFlags open a folder to look up names in it, which takes no right to list them.
const folderFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// openCanonical opens an absolute path of which no part may be a symbolic link. The
// kernel checks that for the whole path at once, from the descriptor of "/": what is
// swapped in after the decision makes the open fail, inside the project as well, where
// os.Root would follow it. flags are safeFlags and more, or folderFlags.
func openCanonical(canonical string, flags int) (int, error) {
	root, err := unix.Open("/", folderFlags, 0)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(root) }()
	name := strings.TrimLeft(canonical, "/")
	if name == "" {
		name = "."
	}
	how := unix.OpenHow{
		Flags:   uint64(flags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for tries := 1; ; tries++ {
		fd, err := unix.Openat2(root, name, &how)
		switch {
		case err == unix.EINTR, err == unix.EAGAIN && tries < openTries: // see openat2(2)
			continue
		case err == unix.ENOSYS, err == unix.EPERM: // before Linux 5.6, or hidden by an older container's filter
			return walkCanonical(canonical, flags)
		}
		return fd, err
	}
}

// renameNew gives a file in the folder its name, unless something has that name.
func renameNew(folder *os.File, from, to string) error {
	dir := int(folder.Fd())
	err := unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
	if err == unix.EINVAL || err == unix.ENOSYS { // not every file system has it
		return linkNew(folder, from, to)
	}
	return err
}

// swapNames swaps the names of two files in a folder.
func swapNames(folder *os.File, a, b string) error {
	dir := int(folder.Fd())
	return unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE)
}
