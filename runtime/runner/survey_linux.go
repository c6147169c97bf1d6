package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

	mu           sync.Mutex // of what the walk finds
	guards       []guard
	repositories []*repository
	folders      []folder
	seen         map[string]bool   // guarded names, relative to root
	aliases      map[string]string // those that are symbolic links, and what they say
	skipped      []string          // folders that were not looked through, relative to root
	links        map[sandbox.FileID]*linked
	entered      int // folders in repositories

	// again marks one that settles a run whose process is gone: all may have changed since.
	again bool
	retry []string // what of it is in the way; nil: all has to be looked at
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
func (s *survey) look(ctx context.Context) error {
	if err := s.open(); err != nil {
		return err
	}
	s.started = time.Now()
	s.seen, s.aliases, s.links = map[string]bool{}, map[string]string{}, map[sandbox.FileID]*linked{}
	if s.fixed && s.decided.whole && !s.decided.repository { // no name in it is hidden, and none can be made
		return s.addPlaces()
	}
	if err := s.walk(ctx, pending{".", s.fixed}); err != nil {
		return err
	}
	if err := s.guardAliases(); err != nil {
		return err
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
	if isGone(err) {
		return nil, nil // replaced meanwhile
	}
	if errors.Is(err, fs.ErrPermission) && at.rel != "." {
		s.mu.Lock()
		defer s.mu.Unlock()
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
	s.mu.Lock()
	s.folders = append(s.folders, folder{at.rel, st.Ctim})
	s.mu.Unlock()
	parts := parts{}
	err = eachName(f, func(entry fs.DirEntry) error {
		parts.note(entry.Name())
		next, enter, err := s.entry(int(f.Fd()), at, entry)
		if enter {
			more = append(more, next)
		}
		return err
	})
	if err == nil && parts.complete() && !s.outside {
		s.mu.Lock()
		defer s.mu.Unlock()
		err = s.addEmbedded(at)
	}
	return more, err
}

// entry looks at one name, and tells whether it is a folder to enter.
func (s *survey) entry(dir int, at pending, entry fs.DirEntry) (next pending, enter bool, err error) {
	name := entry.Name()
	if entry.IsDir() && isWithheld(name) && !s.outside {
		return next, false, s.hideWithheld(filepath.Join(at.rel, name))
	}
	_, denied := s.decided.denied(filepath.Join(s.root, at.rel, name))
	if s.outside || denied || permission.MayBeGuarded(name) || entry.IsDir() && isDownloaded(name) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.named(dir, at, entry)
	}
	if name == "HEAD" && !at.fixed {
		if err := s.addBare(at.rel); err != nil {
			return next, false, err
		}
	}
	if entry.Type().IsRegular() {
		return next, false, s.checkNames(dir, at.rel, name)
	}
	return pending{filepath.Join(at.rel, name), at.fixed}, entry.IsDir(), nil
}

// hideWithheld hides a folder that was withheld from an earlier run, and however much is in
// it. To what was decided about by that name it is open.
func (s *survey) hideWithheld(rel string) error {
	if path := filepath.Join(s.root, rel); slices.ContainsFunc(s.decided.paths, func(e permission.Effect) bool { return isBelow(e.Target, path) }) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cover(rel)
}

// checkNames looks whether a file has other names.
func (s *survey) checkNames(dir int, folder, name string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err == nil && st.Nlink < 2 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noteLinks(dir, filepath.Join(folder, name), name, 0, false)
}

// named is entry for a name that may mean something.
func (s *survey) named(dir int, at pending, entry fs.DirEntry) (next pending, enter bool, err error) {
	name := entry.Name()
	next = pending{filepath.Join(at.rel, name), at.fixed}
	mode, guarded := s.decided.denied(filepath.Join(s.root, next.rel))
	if s.outside || permission.MayBeGuarded(name) {
		s.see(next.rel, entry)
		if permission.IsRepository(name) && !s.outside && !guarded {
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
	return next, entry.IsDir() && !(guarded && (mode == sandbox.Covered || permission.IsRepository(name))), nil
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

// maxTarget is the longest path that a mount is laid over; PATH_MAX is 4,096 bytes.
const maxTarget = 4000

// add lays a mount over a name of an open folder, dir, or of the root where name is rel. What
// lies too deep for one is hidden with a folder above it.
func (s *survey) add(dir int, rel, name string, mode sandbox.Mode) error {
	var st unix.Stat_t
	var err error
	switch {
	case len(s.root)+len(rel) > maxTarget:
		rel, mode = rel[:strings.LastIndexByte(rel[:maxTarget-len(s.root)], '/')], sandbox.Covered
		if slices.ContainsFunc(s.guards, func(g guard) bool { return g.path == filepath.Join(s.root, rel) }) {
			return nil
		}
		err = s.stat(rel, &st)
	case name == rel:
		err = s.stat(rel, &st)
	default:
		err = unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if isGone(err) {
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
		if isGone(err) {
			continue
		}
		if err != nil {
			return cannotLook(place, err)
		}
		s.guards = append(s.guards, guard{place, id, mode})
	}
	return nil
}
