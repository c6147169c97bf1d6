package runner

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/runtime/permission"
)

// newInRepositories lists what a run made in the repositories that it could change, by which
// git would run something or look for settings elsewhere.
func (s *survey) newInRepositories() (names []string, failed error) {
	for _, r := range s.repositories {
		err := s.fixedNames(r.rel, func(name string) error {
			decided := s.decided.opens(filepath.Join(s.root, name), permission.ClassProtected, true)
			dir := filepath.Dir(name)
			if !r.seen[name] && !decided && (dir == r.rel || !s.isHarmlessFolder(dir)) {
				names = append(names, name)
			}
			return nil
		})
		treesErr := s.eachFolder(filepath.Join(r.rel, "worktrees"), func(tree string) error {
			if name := filepath.Join(tree, "commondir"); s.isThere(name) && s.text(name) != "../.." {
				names = append(names, name)
			}
			return nil
		})
		oddErr := s.odd(r.rel, func(name string) {
			if !r.seen[name] && !(slices.Contains(unfinished, filepath.Base(name)) && s.decided.mayStop()) {
				names = append(names, name)
			}
		})
		failed = errors.Join(failed, err, treesErr, oddErr)
	}
	return names, failed
}

// isHarmless reports whether a repository that is new is what git makes of itself: nothing in
// it has git run something.
func (s *survey) isHarmless(rel string) bool {
	var st unix.Stat_t
	if s.stat(rel, &st) != nil {
		return false
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return s.isHarmlessFolder(rel)
	case unix.S_IFREG:
		return s.leadsBack(rel)
	}
	return false
}

// leadsBack reports whether a file in the place of a repository names one of the project's
// own worktrees or submodules.
func (s *survey) leadsBack(rel string) bool {
	to, ok := strings.CutPrefix(s.text(rel), "gitdir: ")
	if !filepath.IsAbs(to) {
		to = filepath.Join(s.root, filepath.Dir(rel), to)
	}
	real, err := filepath.EvalSymlinks(to)
	return ok && err == nil && slices.ContainsFunc([]string{s.root, s.main}, func(root string) bool {
		own := filepath.Join(root, ".git")
		return root != "" && (isBelow(real, filepath.Join(own, "worktrees")) || isBelow(real, filepath.Join(own, "modules")))
	})
}

// isHarmlessFolder reports whether a repository's folder holds no settings but harmless ones
// and no hooks.
func (s *survey) isHarmlessFolder(rel string) bool {
	for _, name := range []string{"config.worktree", "commondir", "remotes"} {
		if s.isThere(filepath.Join(rel, name)) {
			return false
		}
	}
	return s.holdsOnly(filepath.Join(rel, "hooks"), func(name string) bool { return strings.HasSuffix(name, ".sample") }) &&
		s.holdsOnly(filepath.Join(rel, "info"), func(name string) bool { return name == "exclude" || name == "refs" }) &&
		s.holdsOnly(filepath.Join(rel, "branches"), func(string) bool { return false }) &&
		harmlessConfig(s.text(filepath.Join(rel, "config")))
}

func (s *survey) holdsOnly(rel string, may func(name string) bool) bool {
	f, err := openBelow(s.top, rel)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	only := true
	err = eachName(f, func(entry fs.DirEntry) error {
		only = only && may(entry.Name())
		return nil
	})
	return only && err == nil
}

// maxConfig is the size of settings that are read.
const maxConfig = 64 << 10
