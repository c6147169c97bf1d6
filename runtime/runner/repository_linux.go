package runner

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// repository is the folder of a git repository that a run may change, but for what makes
// git run something.
type repository struct {
	rel  string          // relative to the survey's root
	seen map[string]bool // those of fixedInRepository, and what odd finds, that were there
}

// fixedInRepository are the names in a repository's folder by which git runs something, or
// believes that its settings lie elsewhere.
var fixedInRepository = []string{"config", "config.worktree", "hooks", "info", "commondir", "remotes", "branches"}

// addRepository guards a name that is git's: read-only, unless a run may change it. What a
// file there points to is seen where it lies in what commands see.
func (s *survey) addRepository(rel string, entry fs.DirEntry) error {
	path := filepath.Join(s.root, rel)
	if entry.Type()&fs.ModeSymlink != 0 {
		led, err := filepath.EvalSymlinks(path)
		if err != nil || led == s.root || !isBelow(led, s.root) {
			return nil // it leads to nothing that commands see
		}
		if rel, err = filepath.Rel(s.root, led); err != nil {
			return cannotLook(path, err)
		}
	}
	if s.decided.opens(path, permission.ClassProtected, true) {
		return nil
	}
	info, err := os.Lstat(filepath.Join(s.root, rel))
	if err != nil {
		return nil // gone meanwhile
	}
	s.skipped = append(s.skipped, rel)
	if !info.IsDir() || !s.decided.repository && !s.decided.writesIn(path) {
		if s.fixed {
			return nil
		}
		return s.add(int(s.top.Fd()), rel, rel, sandbox.ReadOnly)
	}
	if err := s.add(int(s.top.Fd()), rel, rel, sandbox.ReadWrite); err != nil {
		return err
	}
	return s.fix(rel)
}

// addEmbedded guards a folder that git takes for a repository by what lies in it.
func (s *survey) addEmbedded(at pending) error {
	if at.fixed || s.isRepository(at.rel) {
		return nil
	}
	return s.fix(at.rel)
}

// isRepository reports whether a folder was a repository before the run that it may change.
func (s *survey) isRepository(rel string) bool {
	return slices.ContainsFunc(s.repositories, func(r *repository) bool { return r.rel == rel })
}

// fix lays read-only mounts over what must not change in a repository's folder.
func (s *survey) fix(rel string) error {
	r := &repository{rel: rel, seen: map[string]bool{}}
	s.repositories = append(s.repositories, r)
	if err := s.odd(rel, func(name string) { r.seen[name] = true }); err != nil {
		return err
	}
	return s.fixedNames(rel, func(name string) error {
		r.seen[name] = true
		if s.decided.opens(filepath.Join(s.root, name), permission.ClassProtected, true) {
			return nil
		}
		return s.add(int(s.top.Fd()), name, name, sandbox.ReadOnly)
	})
}

// fixedNames visits what must not change in a repository's folder, and in those of its
// submodules and worktrees, by paths relative to the survey's root.
func (s *survey) fixedNames(rel string, visit func(rel string) error) error {
	for _, name := range fixedInRepository {
		if s.isThere(filepath.Join(rel, name)) {
			if err := visit(filepath.Join(rel, name)); err != nil {
				return err
			}
		}
	}
	err := s.eachFolder(filepath.Join(rel, "worktrees"), func(tree string) error {
		if settings := filepath.Join(tree, "config.worktree"); s.isThere(settings) {
			return visit(settings)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.modules(filepath.Join(rel, "modules"), visit)
}

// unfinished is what git goes on with when it is told to continue: it may name commands.
var unfinished = []string{"rebase-merge", "rebase-apply", "sequencer"}

// odd visits what git never makes of itself, or only where it was stopped: symbolic links in a
// repository's folder, through which git would write elsewhere, and unfinished work.
func (s *survey) odd(rel string, visit func(rel string)) error {
	for _, name := range unfinished {
		if s.isThere(filepath.Join(rel, name)) {
			visit(filepath.Join(rel, name))
		}
	}
	rest := []string{rel}
	for len(rest) > 0 {
		at := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		f, err := openBelow(s.top, at)
		if isGone(err) {
			continue
		}
		if err != nil {
			return cannotLook(filepath.Join(s.root, at), err)
		}
		err = eachName(f, func(entry fs.DirEntry) error {
			name := filepath.Join(at, entry.Name())
			switch {
			case entry.Type()&fs.ModeSymlink != 0:
				visit(name)
			case entry.IsDir() && filepath.Base(at) != "objects": // of which there are many, all of them data
				rest = append(rest, name)
			}
			return nil
		})
		_ = f.Close()
		if err != nil {
			return err
		}
		if s.entered++; s.entered > maxFolders {
			return tooManyFolders(s.root)
		}
	}
	return nil
}

func (s *survey) modules(rel string, visit func(rel string) error) error {
	return s.eachFolder(rel, func(module string) error {
		if s.isThere(filepath.Join(module, "HEAD")) {
			return s.fixedNames(module, visit)
		}
		return s.modules(module, visit)
	})
}

// eachFolder visits the folders in one, which need not be there.
func (s *survey) eachFolder(rel string, visit func(rel string) error) error {
	f, err := openBelow(s.top, rel)
	if isGone(err) {
		return nil
	}
	if err != nil {
		return cannotLook(filepath.Join(s.root, rel), err)
	}
	defer f.Close()
	return eachName(f, func(entry fs.DirEntry) error {
		if !entry.IsDir() {
			return nil
		}
		if s.entered++; s.entered > maxFolders {
			return tooManyFolders(s.root)
		}
		return visit(filepath.Join(rel, entry.Name()))
	})
}
