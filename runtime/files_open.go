package runtime

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// openTries bounds how often an open is tried again because something was renamed
// meanwhile.
const openTries = 16

// openFolder opens the folder at a canonical path.
func openFolder(canonical string) (*os.File, error) {
	fd, err := openCanonical(canonical, unix.O_RDONLY|unix.O_DIRECTORY|safeFlags)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), canonical), nil
}

// openIn opens a name in an open folder; never what a link of that name leads to.
func openIn(folder *os.File, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(int(folder.Fd()), name, flags|safeFlags, mode)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// safeFlags: no link is followed at the end, no pipe or terminal is waited for or
// taken over, no child inherits the descriptor.
const safeFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

// walkCanonical opens a canonical path name by name, refusing a link at each.
func walkCanonical(canonical string, flags int) (int, error) {
	fd, err := unix.Open("/", folderFlags, 0)
	if err != nil {
		return -1, err
	}
	names := strings.Split(strings.Trim(canonical, "/"), "/")
	if names[0] == "" {
		names[0] = "."
	}
	for i, name := range names {
		want := folderFlags
		if i == len(names)-1 {
			want = flags
		}
		next, err := unix.Openat(fd, name, want, 0)
		for err == unix.EINTR {
			next, err = unix.Openat(fd, name, want, 0)
		}
		_ = unix.Close(fd)
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

// makeFolder opens the folder at a canonical path and makes it where it is missing,
// parents first. made lists the folders that are new, outermost first.
func makeFolder(canonical string) (folder *os.File, made []string, err error) {
	folder, err = openFolder(canonical)
	if err != unix.ENOENT {
		return folder, nil, err
	}
	parent, made, err := makeFolder(filepath.Dir(canonical))
	if err != nil {
		return nil, made, err
	}
	defer parent.Close()
	name := filepath.Base(canonical)
	switch err := unix.Mkdirat(int(parent.Fd()), name, 0o777); err {
	case nil:
		made = append(made, canonical)
	case unix.EEXIST: // somebody else made it just now
	default:
		return nil, made, err
	}
	if err := syncFolder(parent); err != nil {
		return nil, made, err
	}
	fd, err := openIn(parent, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, made, err
	}
	return os.NewFile(uintptr(fd), canonical), made, nil
}

func syncFolder(folder *os.File) error {
	err := folder.Sync()
	if errors.Is(err, unix.EINVAL) { // folders of this file system have no fsync
		return nil
	}
	return err
}

// unmake removes the folders that makeFolder made, as far as they are empty.
func unmake(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		parent, err := openFolder(filepath.Dir(made[i]))
		if err != nil {
			return
		}
		_ = unix.Unlinkat(int(parent.Fd()), filepath.Base(made[i]), unix.AT_REMOVEDIR)
		_ = parent.Close()
	}
}

func readLink(folder *os.File, name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(folder.Fd()), name, buf)
	return string(buf[:max(n, 0)]), err
}

func nodeType(st *unix.Stat_t) string {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return "file"
	case unix.S_IFDIR:
		return "directory"
	case unix.S_IFLNK:
		return "symlink"
	}
	return "other"
}

func modified(st *unix.Stat_t) time.Time { return time.Unix(st.Mtim.Unix()).UTC() }
