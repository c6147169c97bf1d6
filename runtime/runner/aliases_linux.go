package runner

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// guardAliases guards what a link leads to whose name is guarded: who obeys the name, or
// keeps a secret by it, means what lies there. What was decided about by its own name is open.
func (s *survey) guardAliases() error {
	if s.outside || len(s.aliases) == 0 {
		return nil
	}
	for rel := range s.aliases {
		path := filepath.Join(s.root, rel)
		mode, guarded := s.guarded(path)
		led, err := filepath.EvalSymlinks(path)
		if !guarded || permission.IsRepository(filepath.Base(rel)) || err != nil || led == s.root || !isBelow(led, s.root) {
			continue
		}
		if mode == sandbox.Covered && s.decided.names(led, false) {
			mode = sandbox.ReadOnly
		}
		if mode == sandbox.ReadOnly && (s.fixed || s.decided.names(led, true)) {
			continue
		}
		if err := s.addAlias(led, mode); err != nil {
			return err
		}
	}
	slices.SortStableFunc(s.guards, func(a, b guard) int { return cmp.Compare(len(a.path), len(b.path)) })
	return nil
}

// addAlias adds a guard to those that are there.
func (s *survey) addAlias(path string, mode sandbox.Mode) error {
	for i := range s.guards {
		g := &s.guards[i]
		if g.path == path && mode == sandbox.Covered {
			g.mode = mode
		}
		if g.path == path || g.mode == sandbox.Covered && isBelow(path, g.path) {
			return nil
		}
	}
	rel, err := filepath.Rel(s.root, path)
	if err != nil {
		return cannotLook(path, err)
	}
	s.guards = slices.DeleteFunc(s.guards, func(g guard) bool { return mode == sandbox.Covered && isBelow(g.path, path) })
	return s.add(int(s.top.Fd()), rel, rel, mode)
}

// addBare guards what git obeys in a folder with a HEAD, where that is a repository without
// the name of one.
func (s *survey) addBare(rel string) error {
	if !permission.HoldsRepository(filepath.Join(s.root, rel)) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fixedNames(rel, func(name string) error {
		if s.decided.opens(filepath.Join(s.root, name), permission.ClassProtected, true) {
			return nil
		}
		return s.add(int(s.top.Fd()), name, name, sandbox.ReadOnly)
	})
}

// names reports whether exactly a path was decided about.
func (d *decided) names(path string, write bool) bool {
	return slices.ContainsFunc(d.paths, func(e permission.Effect) bool {
		return e.Target == path && !e.Recursive && !e.Folder && write == (e.Kind != permission.Read)
	})
}
