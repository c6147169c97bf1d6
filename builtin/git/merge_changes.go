package git

import (
	"context"
	"path"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// change is one path of a merge.
type change struct {
	path     string // relative to the top folder
	old, new entry
}

// entry is what a commit has at a path.
type entry struct {
	mode string // in octal, as git writes it; nowhere where there is nothing
	id   string // of the object
}

const (
	nowhere = "000000"
	link    = "120000"
)

// isLink reports whether there is, or was, a symbolic link.
func (c change) isLink() bool { return c.old.mode == link || c.new.mode == link }

func (c change) kind() permission.Kind {
	if c.new.mode == nowhere {
		return permission.Delete
	}
	return permission.Write
}

// planned are the paths that differ between the target and a commit, or a tree. Changing
// them was decided.
func (m *merging) planned(ctx context.Context, to string) ([]change, error) {
	out, err := m.must(ctx, call{top: true, limit: largeOutput, args: []string{"diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", m.target, to}})
	if err != nil {
		return nil, err
	}
	changes, err := parseChanges(out)
	if err != nil {
		return nil, err
	}
	return changes, m.decide(ctx, changes)
}

// parseChanges reads https://git-scm.com/docs/git-diff#_raw_output_format with NUL, without
// renames.
func parseChanges(out []byte) (all []change, err error) {
	parts := fields(out)
	if err := checkCount(len(parts) / 2); err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(parts); i += 2 {
		said := strings.Fields(strings.TrimPrefix(parts[i], ":"))
		if len(said) != 5 || !isObjectID(said[2]) || !isObjectID(said[3]) {
			return nil, fault.New(fault.Internal, "bug", "git diff-tree wrote %.100q, which is not understood", parts[i])
		}
		all = append(all, change{path: parts[i+1], old: entry{said[0], said[2]}, new: entry{said[1], said[3]}})
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

// decide answers for every path of a merge, before any is changed. The old content is in
// the repository, which is as good as having seen it.
func (m *merging) decide(ctx context.Context, changes []change) error {
	commands, err := m.commands.Decide(ctx, m.effects(changes))
	if err == nil {
		m.commands = commands
	}
	return err
}

func (m *merging) effects(changes []change) []permission.Effect {
	effects := make([]permission.Effect, len(changes))
	for i, c := range changes {
		effects[i] = permission.Effect{Kind: c.kind(), Target: m.at.Top + "/" + c.path, Known: true}
	}
	return effects
}

// clean refuses a merge that would meet changes in the files or the index, or a file that
// the repository does not know. What git says of its index is not enough: entries of it may
// be marked as never looked at.
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
	if err := m.unoccupied(changes); err != nil {
		return err
	}
	hidden, err := m.differing(ctx, changes, change.before)
	for _, c := range changes {
		if err == nil && hidden[c.path] {
			err = fault.New(fault.Conflict, "target_dirty", "%s has changes that git does not see, and the merge would change it", m.shown(c.path)).
				WithHint("git was told not to look: git update-index --no-assume-unchanged --no-skip-worktree PATH has it look again; then commit or stash them")
		}
	}
	return err
}

// unoccupied refuses a merge that would create a file where one is, or below a file.
func (m *merging) unoccupied(changes []change) error {
	gone := map[string]bool{}
	for _, c := range changes {
		gone[c.path] = c.kind() == permission.Delete
	}
	for _, c := range changes {
		if c.old.mode != nowhere {
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
