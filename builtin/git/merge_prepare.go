package git

import (
	"cmp"
	"context"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
)

// prepare finds the two repositories and commits of a merge.
func prepare(ctx context.Context, access *runtime.Access, in mergeInput) (*merging, error) {
	w, err := access.Workspace(in.WorkspaceID)
	if err != nil {
		return nil, err
	}
	target, err := open(ctx, access, access.Commands, w.Repository)
	if err != nil {
		return nil, err
	}
	from, err := target.worktree(ctx, w.Path)
	if err != nil {
		return nil, err
	}
	if target.at.Common != from.at.Common || target.at.Top != w.Repository || from.at.Top != w.Path {
		return nil, fault.New(fault.Conflict, "workspace_moved", "the workspace is no longer a worktree of the repository that it was made from")
	}
	target.commands = from.commands
	m := &merging{repo: target, from: from, workspace: w, strategy: in.Strategy}
	if err := m.choose(ctx, in.TargetRef); err != nil {
		return nil, err
	}
	m.source, err = from.resolve(ctx, "HEAD")
	return m, err
}

// choose finds the branch to merge into: the one that is checked out, or another that is
// checked out nowhere.
func (m *merging) choose(ctx context.Context, named string) error {
	head, err := m.head(ctx)
	if err != nil {
		return err
	}
	m.ref = head
	if named != "" {
		if m.ref, err = branchRef(strings.TrimPrefix(named, "refs/heads/")); err != nil {
			return err
		}
	}
	m.checkedOut = m.ref == head
	switch {
	case m.strategy == patchApply && !m.checkedOut:
		return fault.New(fault.InvalidInput, "target_not_checked_out", "patch_apply changes the files that are checked out, and %.200q is not", named).WithHint("leave target_ref out")
	case m.ref == "" && m.strategy != patchApply:
		return fault.New(fault.Conflict, "detached_head", "no branch is checked out in the project").WithHint("name the branch as target_ref, or check it out")
	}
	check := m.elsewhere
	if m.checkedOut {
		check = m.undisturbed
	}
	if err := check(ctx); err != nil {
		return err
	}
	m.target, err = m.resolve(ctx, cmp.Or(m.ref, "HEAD"))
	return err
}

// elsewhere refuses a branch that another worktree has checked out: its files would no
// longer be those of its branch.
func (m *merging) elsewhere(ctx context.Context) error {
	out, err := m.must(ctx, call{top: true, args: []string{"worktree", "list", "--porcelain", "-z"}})
	if err != nil {
		return err
	}
	for _, line := range fields(out) {
		if line == "branch "+m.ref {
			return fault.New(fault.Conflict, "target_checked_out", "the branch %.200q is checked out in another worktree", strings.TrimPrefix(m.ref, "refs/heads/"))
		}
	}
	return nil
}

// undisturbed refuses to merge while git is in the middle of something there.
func (m *merging) undisturbed(ctx context.Context) error {
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"} {
		if there, err := m.exists(ctx, name); err != nil || there {
			if err == nil {
				err = fault.New(fault.Conflict, "merge_in_progress", "a merge is under way in the project: git has a %s", name).WithHint("finish it or abort it with git first")
			}
			return err
		}
	}
	return nil
}
