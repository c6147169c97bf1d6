package git

import (
	"context"
	"path"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// change is one path of a merge.
type change struct {
	path    string // relative to the top folder
	kind    permission.Kind
	created bool // the target does not have it
}

// changes are the paths that differ between the target and a commit, or a tree.
func (m *merging) changes(ctx context.Context, to string) ([]change, error) {
	out, err := m.must(ctx, call{top: true, limit: largeOutput, args: []string{"diff-tree", "-r", "-z", "--no-renames", "--name-status", m.target, to}})
	if err != nil {
		return nil, err
	}
	parts := fields(out)
	if err := checkCount(len(parts) / 2); err != nil {
		return nil, err
	}
	var all []change
	for i := 0; i+1 < len(parts); i += 2 {
		all = append(all, changeOf(parts[i], parts[i+1]))
	}
	return all, nil
}

func checkCount(paths int) error {
	if paths <= maxChanged {
		return nil
	}
	return fault.New(fault.ResourceExhausted, "too_many_paths", "the merge changes %d paths, the limit is %d", paths, maxChanged).
		WithHint("a person can merge it with git")
}

func changeOf(status, name string) change {
	c := change{path: name, kind: permission.Write, created: status == "A"}
	if status == "D" {
		c.kind = permission.Delete
	}
	return c
}

// decide answers for every path of a merge, before any is changed. The old content is in
// the repository, which is as good as having seen it.
func (m *merging) decide(ctx context.Context, changes []change) error {
	effects := make([]permission.Effect, len(changes))
	for i, c := range changes {
		effects[i] = permission.Effect{Kind: c.kind, Target: m.at.Top + "/" + c.path, Known: true}
	}
	commands, err := m.commands.Decide(ctx, effects)
	if err == nil {
		m.commands = commands
	}
	return err
}

// clean refuses a merge that would meet changes in the files or the index, or a file that
// the repository does not know.
func (m *merging) clean(ctx context.Context, changes []change) error {
	s, err := m.state(ctx, "no")
	if err != nil {
		return err
	}
	dirty := map[string]bool{}
	for _, list := range [][]string{s.staged, s.modified, s.conflicted, s.renamed} {
		for _, name := range list {
			dirty[name] = true
		}
	}
	for _, c := range changes {
		if dirty[c.path] {
			return fault.New(fault.Conflict, "target_dirty", "%s has changes that are not committed, and the merge would change it", m.shown(c.path)).
				WithHint("commit or stash them first")
		}
	}
	return m.unoccupied(changes)
}

// unoccupied refuses a merge that would create a file where one is, or below a file.
func (m *merging) unoccupied(changes []change) error {
	gone := map[string]bool{}
	for _, c := range changes {
		gone[c.path] = c.kind == permission.Delete
	}
	for _, c := range changes {
		if !c.created {
			continue
		}
		info, err := m.access.Files.Stat(m.at.Top + "/" + c.path)
		if err != nil {
			return err
		}
		if info.Exists && !(info.Type == "directory" && m.empties(c.path, gone)) {
			return fault.New(fault.Conflict, "untracked_in_the_way", "%s is there and not in the repository: the merge would replace it", m.shown(c.path)).
				WithHint("move it away, or commit it")
		}
	}
	return nil
}

// empties reports whether the merge deletes files below a folder: git then looks whether
// that leaves it empty.
func (m *merging) empties(dir string, gone map[string]bool) bool {
	for name, deleted := range gone {
		for at := path.Dir(name); deleted && at != "."; at = path.Dir(at) {
			if at == dir {
				return true
			}
		}
	}
	return false
}

func (m *merging) names(changes []change) []string {
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = m.shown(c.path)
	}
	return names
}
