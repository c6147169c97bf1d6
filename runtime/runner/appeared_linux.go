package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/runtime/permission"
)

// clockTick is more than the kernel's clock for the times of files may be behind.
const clockTick = 50 * time.Millisecond

// withhold renames what a run made in the folder though it is guarded, and was not decided
// about: at the top every guarded name, below it the repositories of git, which git obeys
// wherever somebody works. Other guarded names below do nothing to who does not work right
// there, and package managers make many. It looks only into folders that changed since
// the run began, by a time that nothing inside can set. What it withheld is named by its
// path relative to the root.
func (s *survey) withhold(id string) (names []string, err error) {
	if s.outside {
		return nil, nil
	}
	found, err := s.appeared()
	for _, rel := range found {
		switch renameErr := s.rename(rel, filepath.Base(rel)+withheldMark+id); {
		case errors.Is(renameErr, fs.ErrNotExist):
		case renameErr != nil:
			err = errors.Join(err, fmt.Errorf("renaming %q, which a command made: %w", rel, renameErr))
			fallthrough
		default:
			names = append(names, rel)
		}
	}
	return names, err
}

// appeared lists what has to be withheld.
func (s *survey) appeared() (found []string, err error) {
	known := make(map[string]bool, len(s.folders))
	for _, f := range s.folders {
		known[f.rel] = true
	}
	var rest []string
	for _, f := range s.folders {
		if f.rel == "." || s.hasChanged(f) {
			rest = append(rest, f.rel)
		}
	}
	if s.fixed || s.decided.whole {
		rest = nil
	}
	for looked := 0; len(rest) > 0; looked++ {
		if looked > maxFolders {
			return found, tooManyFolders(s.root)
		}
		rel := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		names, folders, err := s.newIn(rel, known)
		if err != nil {
			return found, err
		}
		found, rest = append(found, names...), append(rest, folders...)
	}
	inside, err := s.newInRepositories()
	return append(found, inside...), err
}

// hasChanged reports whether names in a folder may have come or gone since it was looked
// through.
func (s *survey) hasChanged(f folder) bool {
	var st unix.Stat_t
	if unix.Fstatat(int(s.top.Fd()), f.rel, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return false // gone, or too deep for anybody
	}
	return st.Ctim != f.changed || time.Unix(f.changed.Unix()).After(s.started.Add(-clockTick))
}

// newIn lists the guarded names that are new in a folder, and the new folders in it.
func (s *survey) newIn(rel string, known map[string]bool) (names, folders []string, err error) {
	f, err := openBelow(s.top, rel)
	if errors.Is(err, fs.ErrPermission) {
		if err = s.unlock(rel); err == nil {
			f, err = openBelow(s.top, rel)
		}
	}
	if err != nil {
		return nil, nil, ifThere(filepath.Join(s.root, rel), err)
	}
	defer f.Close()
	err = eachName(f, func(entry fs.DirEntry) error {
		name := entry.Name()
		path := filepath.Join(rel, name)
		switch {
		case s.seen[path] || s.isAlias(path):
		case s.isNew(path, name):
			names = append(names, path)
		case entry.IsDir() && !known[path] && !isDownloaded(name):
			folders = append(folders, path)
		}
		return nil
	})
	return names, folders, err
}

// isAlias reports whether a name is a link that was there before and says the same.
func (s *survey) isAlias(rel string) bool {
	said, ok := s.aliases[rel]
	if !ok {
		return false
	}
	to, err := os.Readlink(filepath.Join(s.root, rel))
	return err == nil && to == said
}

// isNew reports whether a name that was not there before has to be withheld.
func (s *survey) isNew(rel, name string) bool {
	if !permission.MayBeGuarded(name) {
		return false
	}
	if permission.IsRepository(name) {
		return !s.decided.writesIn(filepath.Join(s.root, rel)) && !s.isHarmless(rel)
	}
	if above := filepath.Dir(rel); s.made || above != "." && filepath.Dir(above) != "." {
		return false
	}
	_, guarded := s.guarded(filepath.Join(s.root, rel))
	return guarded && (filepath.Dir(rel) == "." || !s.guardsName(rel, name)) && !s.decided.writesIn(filepath.Join(s.root, rel))
}

// guardsName reports whether a path is guarded for its last name alone, wherever it lies.
func (s *survey) guardsName(rel, name string) bool {
	_, guarded := s.guarded(filepath.Join(s.root, name))
	return guarded && filepath.Dir(rel) != "."
}

// unlock opens a folder that a command closed, to look into it.
func (s *survey) unlock(rel string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(int(s.top.Fd()), rel, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if int(st.Uid) != os.Getuid() || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return fs.ErrPermission
	}
	fd, err := unix.Openat2(int(s.top.Fd()), rel, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH,
	})
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return os.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), fs.FileMode(st.Mode&0o777|0o700))
}

// ifThere is nil for what is gone.
func ifThere(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	return cannotLook(path, err)
}

// rename gives something another name in its folder, and takes nothing's place.
func (s *survey) rename(rel, name string) error {
	folder, err := openBelow(s.top, filepath.Dir(rel))
	if err != nil {
		return err
	}
	defer folder.Close()
	dir := int(folder.Fd())
	return unix.Renameat2(dir, filepath.Base(rel), dir, name, unix.RENAME_NOREPLACE)
}
