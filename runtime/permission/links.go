package permission

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
)

// These bound the search for the other names of a hard-linked file.
const (
	maxProjectWalk = 20_000
	maxPlaceWalk   = 2_000
)

// airSecrets are the parts of air's own folder that decide or hold secrets.
var airSecrets = []string{"config.yaml", "permissions.yaml", "keys", "secrets", "grants", "trust"}

// LinksProtected reports whether a file with more than one name has one among the
// protected files of the project, the person's credentials or air's own files. Call
// it with the open file's own info. It finds the names that are known to be
// protected, not every name that a file may have on a disk.
func (p *Paths) LinksProtected(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.IsDir() || stat.Nlink < 2 {
		return false
	}
	s := linkSearch{paths: p, stat: stat}
	for _, place := range p.secretPlaces() {
		s.walk(place, maxPlaceWalk, func(string) bool { return true })
	}
	s.walk(p.root, maxProjectWalk, s.isProtected)
	return s.found
}

func (p *Paths) secretPlaces() []string {
	places := append([]string{p.binary}, rootCredentials...)
	for _, name := range airSecrets {
		places = append(places, filepath.Join(p.air, name))
	}
	for _, name := range homeCredentials {
		places = append(places, filepath.Join(p.home, name))
	}
	return slices.DeleteFunc(places, func(place string) bool { return !filepath.IsAbs(place) })
}

type linkSearch struct {
	paths *Paths
	stat  *syscall.Stat_t
	found bool
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

func (s *linkSearch) walk(root string, left int, counts func(path string) bool) {
	if root == "" || s.found {
		return
	}
	// What cannot be looked into has no name that this process could have followed.
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if left--; left < 0 {
			return errEnough
		}
		switch {
		case err != nil:
			return nil
		case entry.IsDir() && s.skips(path):
			return fs.SkipDir
		case entry.Type().IsRegular() && counts(path) && s.isSame(entry):
			s.found = true
			return errEnough
		}
		return nil
	})
}

// skips leaves out folders of many files that hold no secrets under names of their own.
func (s *linkSearch) skips(path string) bool {
	name := filepath.Base(path)
	return name == "node_modules" || (name == "objects" && filepath.Base(filepath.Dir(path)) == ".git")
}

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
