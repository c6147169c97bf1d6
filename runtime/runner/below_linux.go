package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/regular"
)

// maxStep is the longest path that the kernel is given at once; PATH_MAX is 4,096 bytes.
const maxStep = 2048

// openBelow opens a folder below another for reading, without following a link, however long
// its path is.
func openBelow(top *os.File, rel string) (*os.File, error) {
	return openAs(top, rel, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK)
}

// openAs goes on from a folder on the way where the path is too long.
func openAs(top *os.File, rel string, flags uint64) (*os.File, error) {
	path, at := filepath.Join(top.Name(), rel), top
	for len(rel) > maxStep {
		cut := strings.LastIndexByte(rel[:maxStep], '/')
		if cut <= 0 {
			return nil, unix.ENAMETOOLONG
		}
		step, err := openat(at, rel[:cut], path, unix.O_PATH|unix.O_DIRECTORY)
		if at != top {
			_ = at.Close()
		}
		if err != nil {
			return nil, err
		}
		at, rel = step, rel[cut+1:]
	}
	f, err := openat(at, rel, path, flags)
	if at != top {
		_ = at.Close()
	}
	return f, err
}

func openat(at *os.File, rel, path string, flags uint64) (*os.File, error) {
	fd, err := unix.Openat2(int(at.Fd()), rel, &unix.OpenHow{
		Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// isGone reports whether an error says that a path leads to nothing, or no more to a folder.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// stat looks at what lies below the root under a path, not where a link leads.
func (s *survey) stat(rel string, st *unix.Stat_t) error {
	folder, err := openAs(s.top, filepath.Dir(rel), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer folder.Close()
	return unix.Fstatat(int(folder.Fd()), filepath.Base(rel), st, unix.AT_SYMLINK_NOFOLLOW)
}

func (s *survey) isThere(rel string) bool {
	var st unix.Stat_t
	return s.stat(rel, &st) == nil
}

// link is what a symbolic link says, "" for anything else.
func (s *survey) link(rel string) string {
	to, err := os.Readlink(filepath.Join(s.root, rel))
	if err != nil {
		return ""
	}
	return to
}

// text is what a small file holds without the blanks around it, "" where it cannot be read.
func (s *survey) text(rel string) string {
	f, err := openAs(s.top, rel, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return ""
	}
	defer f.Close()
	content, err := regular.ReadFile(f, maxConfig)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// opened lets the owner search and change a folder until restore is called, where that is
// who runs this.
func opened(f *os.File) (restore func()) {
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil || st.Mode&0o700 == 0o700 || unix.Fchmod(int(f.Fd()), st.Mode&0o7777|0o700) != nil {
		return func() {}
	}
	return func() { _ = unix.Fchmod(int(f.Fd()), st.Mode&0o7777) }
}

// openClosed opens a folder for reading, and those above it where a command closed them.
func (s *survey) openClosed(rel string) (*os.File, error) {
	f, err := openBelow(s.top, rel)
	if !errors.Is(err, fs.ErrPermission) {
		return f, err
	}
	for i := range rel {
		if rel[i] != '/' {
			continue
		}
		if err := s.unlock(rel[:i]); err != nil {
			return nil, err
		}
	}
	if err := s.unlock(rel); err != nil {
		return nil, err
	}
	return openBelow(s.top, rel)
}

// errForeign is that of a folder of another user, in which no command made anything that the
// user could not look at.
var errForeign = errors.New("it is another user's")

// unlock opens a folder that a command closed, to look into it.
func (s *survey) unlock(rel string) error {
	f, err := openAs(s.top, rel, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	if int(st.Uid) != os.Getuid() {
		if unix.Faccessat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), unix.R_OK|unix.X_OK, 0) == nil {
			return nil
		}
		return errForeign
	}
	if st.Mode&0o700 == 0o700 {
		return nil
	}
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), st.Mode&0o7777|0o700)
}

// maxName is NAME_MAX, and maxTries how many names are tried.
const (
	maxName  = 255
	maxTries = 100
)

// rename appends a mark to the name of something, and takes nothing's place.
func (s *survey) rename(rel, mark string) error {
	folder, err := s.openClosed(filepath.Dir(rel))
	if err != nil {
		return err
	}
	defer folder.Close()
	defer opened(folder)()
	dir, name := int(folder.Fd()), filepath.Base(rel)
	for try := range maxTries {
		to := mark
		if try > 0 {
			to += fmt.Sprintf("-%d", try)
		}
		to = name[:min(len(name), maxName-len(to))] + to
		if err = unix.Renameat2(dir, name, dir, to, unix.RENAME_NOREPLACE); err != unix.EEXIST {
			return err
		}
	}
	return err
}
