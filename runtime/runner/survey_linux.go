package runner

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// survey is what a walk through a folder found that commands see: the project, a worktree of
// it, or another folder that was decided about.
type survey struct {
	judge
	root    string
	main    string   // the project's
	top     *os.File // the open root
	started time.Time

	// outside marks a folder that is not the project's: every name in it may be guarded.
	outside bool
	// made marks one that the run makes, as a worktree: all files in it are decided about.
	made bool
	// fixed marks one that is mounted read-only: only what is hidden needs a mount.
	fixed bool

	guards       []guard
	repositories []*repository
	folders      []folder
	seen         map[string]bool   // guarded names, relative to root
	aliases      map[string]string // those that are symbolic links, and what they say
	skipped      []string          // folders that were not looked through, relative to root
	links        map[sandbox.FileID]*linked
	entered      int // folders in repositories
}

// folder is one that was looked through.
type folder struct {
	rel     string
	changed unix.Timespec
}

// pending is a folder that has still to be looked through.
type pending struct {
	rel   string
	fixed bool // nothing can be written there
}

// look walks through a folder. It holds the names of folders, not those of files.
func (s *survey) look() error {
	top, err := os.Open(s.root)
	if err != nil {
		return cannotLook(s.root, err)
	}
	s.top, s.started = top, time.Now()
	s.seen, s.aliases, s.links = map[string]bool{}, map[string]string{}, map[sandbox.FileID]*linked{}
	if s.fixed && s.decided.whole && !s.decided.repository { // no name in it is hidden, and none can be made
		return s.addPlaces()
	}
	rest := []pending{{".", s.fixed}}
	for len(rest) > 0 {
		next := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		more, err := s.folder(next)
		if err != nil {
			return err
		}
		rest = append(rest, more...)
		if len(s.folders)+len(rest) > maxFolders {
			return tooManyFolders(s.root)
		}
	}
	if err := s.checkLinks(); err != nil {
		return err
	}
	if len(s.guards) > maxGuards {
		return tooManyGuards(s.root)
	}
	return s.addPlaces()
}

// close lets go of the root.
func (s *survey) close() {
	if s.top != nil {
		_ = s.top.Close()
	}
}

// folder looks at the names in one folder and returns the folders in it.
func (s *survey) folder(at pending) (more []pending, err error) {
	f, err := openBelow(s.top, at.rel)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil, nil // replaced meanwhile
	}
	if errors.Is(err, fs.ErrPermission) && at.rel != "." {
		return nil, s.cover(at.rel) // its owner could open it
	}
	if err != nil {
		return nil, cannotLook(filepath.Join(s.root, at.rel), err)
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, cannotLook(filepath.Join(s.root, at.rel), err)
	}
	s.folders = append(s.folders, folder{at.rel, st.Ctim})
	err = eachName(f, func(entry fs.DirEntry) error {
		next, enter, err := s.entry(int(f.Fd()), at, entry)
		if enter {
			more = append(more, next)
		}
		return err
	})
	return more, err
}

// eachName goes through a folder a part at a time, however large it is.
func eachName(f *os.File, visit func(fs.DirEntry) error) error {
	for {
		entries, err := f.ReadDir(512)
		for _, entry := range entries {
			if err := visit(entry); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return cannotLook(f.Name(), err)
		}
	}
}

// entry looks at one name, and tells whether it is a folder to enter.
func (s *survey) entry(dir int, at pending, entry fs.DirEntry) (next pending, enter bool, err error) {
	name := entry.Name()
	next = pending{filepath.Join(at.rel, name), at.fixed}
	mode, guarded := sandbox.Mode(0), false
	if s.outside || permission.MayBeGuarded(name) {
		s.see(next.rel, entry)
		if permission.IsRepository(name) && !s.outside {
			return next, false, s.addRepository(next.rel, entry)
		}
		mode, guarded = s.guarded(filepath.Join(s.root, next.rel))
	}
	if guarded && entry.Type()&fs.ModeSymlink == 0 && !(at.fixed && mode == sandbox.ReadOnly) {
		if err := s.add(dir, next.rel, name, mode); err != nil {
			return next, false, err
		}
	}
	if entry.Type().IsRegular() {
		return next, false, s.noteLinks(dir, next.rel, name, mode, guarded)
	}
	if entry.IsDir() && isDownloaded(name) && !s.outside {
		s.skipped = append(s.skipped, next.rel)
		return next, false, nil
	}
	next.fixed = next.fixed || guarded
	return next, entry.IsDir() && !(guarded && mode == sandbox.Covered), nil
}

// see notes a guarded name. No mount lies over a link: it can be replaced.
func (s *survey) see(rel string, entry fs.DirEntry) {
	if entry.Type()&fs.ModeSymlink == 0 {
		s.seen[rel] = true
		return
	}
	if to, err := os.Readlink(filepath.Join(s.root, rel)); err == nil {
		s.aliases[rel] = to
	}
}

// add lays a mount over a name of an open folder.
func (s *survey) add(dir int, rel, name string, mode sandbox.Mode) error {
	var st unix.Stat_t
	err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return cannotLook(filepath.Join(s.root, rel), err)
	}
	s.guards = append(s.guards, guard{filepath.Join(s.root, rel), idOf(&st), mode})
	if len(s.guards) > maxGuards {
		return tooManyGuards(s.root)
	}
	return nil
}

func idOf(st *unix.Stat_t) sandbox.FileID { return sandbox.FileID{Device: st.Dev, Inode: st.Ino} }

// cover hides a path.
func (s *survey) cover(rel string) error {
	return s.add(int(s.top.Fd()), rel, rel, sandbox.Covered)
}

// addPlaces guards what is guarded whatever its name is.
func (s *survey) addPlaces() error {
	for _, place := range s.paths.GuardedPlaces(s.root) {
		mode, guarded := s.guarded(place)
		if !guarded || s.outside || s.fixed && mode == sandbox.ReadOnly {
			continue
		}
		id, err := sandbox.FileIDOf(place)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
			continue
		}
		if err != nil {
			return cannotLook(place, err)
		}
		s.guards = append(s.guards, guard{place, id, mode})
	}
	return nil
}

// openBelow opens a folder below another for reading, without following a link.
func openBelow(top *os.File, rel string) (*os.File, error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NONBLOCK,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS,
	}
	fd, err := unix.Openat2(int(top.Fd()), rel, &how)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), filepath.Join(top.Name(), rel)), nil
}
