package permission

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
)

// maxNames bounds the search for the other names of a hard-linked file, to about a
// second.
const maxNames = 300_000

// CheckLinks refuses a file with more than one name that has one among the protected
// files of the project, the person's credentials or air's own files, or that may have
// one: there are too many files to look at all. Call it with the open file's own info
// and the name to show. It finds the names that are known to be protected, not every
// name that a file may have on a disk.
func (p *Paths) CheckLinks(name string, info fs.FileInfo) error {
	return p.checkLinks(name, info, maxNames)
}

func (p *Paths) checkLinks(name string, info fs.FileInfo, limit int) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.IsDir() || stat.Nlink < 2 {
		return nil
	}
	s := linkSearch{paths: p, stat: stat, left: limit}
	for _, place := range p.secretPlaces() {
		s.walk(place, func(path string) bool { return !s.inWorktree(path) || s.isProtected(path) })
	}
	s.walk(p.root, s.isProtected)
	const hint = "do not work around this; a person can copy the file under a name of its own"
	switch {
	case s.found:
		return refuse(CodeProtectedPath, "%s is another name of a protected file (a hard link)", name).WithHint(hint)
	case s.left < 0:
		return refuse(CodeUnknownLinks, "%s has %d names (hard links), and too much to look through to see whether a protected file is among them", name, stat.Nlink).WithHint(hint)
	}
	return nil
}

func (p *Paths) secretPlaces() []string {
	places := append([]string{p.binary, p.air}, rootCredentials...)
	for _, name := range homeCredentials {
		places = append(places, filepath.Join(p.home, name))
	}
	return slices.DeleteFunc(places, func(place string) bool { return !filepath.IsAbs(place) })
}

type linkSearch struct {
	paths *Paths
	stat  *syscall.Stat_t
	left  int // names that may still be looked at; below 0 when not all were
	found bool
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

func (s *linkSearch) walk(root string, counts func(path string) bool) {
	if root == "" || s.found || s.left < 0 {
		return
	}
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if s.left--; s.left < 0 {
			return errEnough
		}
		switch {
		case err != nil:
			return s.unseen(err)
		case entry.Type().IsRegular() && counts(path) && s.isSame(entry):
			s.found = true
			return errEnough
		}
		return nil
	})
}

// unseen goes on where nothing is, and where this process may not look: it can have
// followed no name there. Any other error leaves names out that may be the protected one.
func (s *linkSearch) unseen(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	s.left = -1
	return errEnough
}

func (s *linkSearch) inWorktree(path string) bool { return within(path, s.paths.worktrees) }

func (s *linkSearch) isProtected(path string) bool {
	rel, ok := s.paths.projectPath(path, fold(path))
	return ok && projectClass(fold(rel), Read) == ClassProtected
}

func (s *linkSearch) isSame(entry fs.DirEntry) bool {
	info, err := entry.Info()
	if err != nil {
		return false
	}
	other, ok := info.Sys().(*syscall.Stat_t)
	return ok && other.Dev == s.stat.Dev && other.Ino == s.stat.Ino
}
