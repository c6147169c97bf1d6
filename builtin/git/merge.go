package git

import (
	"bytes"
	"context"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

type mergeInput struct {
	WorkspaceID string `json:"workspace_id"`
	Strategy    string `json:"strategy"`
	TargetRef   string `json:"target_ref"`
}

type mergeOutput struct {
	Status     string   `json:"status"`
	Changed    []string `json:"changed_files"`
	DiffID     string   `json:"diff_artifact_id,omitempty"`
	ConflictID string   `json:"conflict_artifact_id,omitempty"`
}

// The strategies, and what became of a merge.
const (
	fastForward = "fast_forward"
	patchApply  = "patch_apply"
	manualMerge = "manual_merge"

	merged     = "merged"
	conflicted = "conflicted"
	failed     = "failed"
)

// mergeEffects are on the project as a whole: which files a merge changes, only git knows.
// Each of them is decided by itself before any is changed.
func mergeEffects(mergeInput) ([]permission.Effect, error) {
	return []permission.Effect{
		reads("."), {Kind: permission.Overwrite, Target: ".", Recursive: true, Below: true, Known: true},
	}, nil
}

// merging is one merge. Ids are object ids.
type merging struct {
	*repo          // of the target
	from           *repo
	workspace      runtime.Workspace
	strategy       string
	ref            string // of the target branch, "" for the files alone
	checkedOut     bool   // the branch is that of the files
	target, source string // commits
}

func merge(ctx context.Context, access *runtime.Access, in mergeInput) (any, error) {
	none := mergeOutput{Status: failed, Changed: []string{}}
	m, err := prepare(ctx, access, in)
	if err != nil {
		return none, err
	}
	out, err := m.merge(ctx)
	if out.Status == "" {
		out = none
	}
	return out, err
}

func (m *merging) merge(ctx context.Context) (mergeOutput, error) {
	switch m.strategy {
	case fastForward:
		return m.fastForward(ctx)
	case manualMerge:
		return m.manual(ctx)
	case patchApply:
		return m.patch(ctx)
	}
	return mergeOutput{}, fault.New(fault.InvalidInput, "bad_strategy", "the strategy %.40q is not known", m.strategy)
}

// fastForward moves the branch to the commit of the workspace.
func (m *merging) fastForward(ctx context.Context) (mergeOutput, error) {
	if err := m.committed(ctx); err != nil {
		return mergeOutput{}, err
	}
	ahead, err := m.isAncestor(ctx, m.target, m.source)
	if err != nil {
		return mergeOutput{}, err
	}
	if !ahead {
		return mergeOutput{}, fault.New(fault.Conflict, "not_fast_forward", "the target has commits that the workspace does not have").
			WithHint("use manual_merge, or rebase the workspace's branch onto the target")
	}
	changes, err := m.planned(ctx, m.source)
	if err != nil {
		return mergeOutput{}, err
	}
	return m.advance(ctx, m.source, changes)
}

// isAncestor reports whether the second commit contains the first.
func (r *repo) isAncestor(ctx context.Context, a, b string) (bool, error) {
	c := call{top: true, args: []string{"merge-base", "--is-ancestor", a, b}}
	said, err := r.run(ctx, c)
	if err == nil && said.code > 1 {
		err = said.failure(c)
	}
	return said.code == 0, err
}

// committed refuses to merge commits while the workspace has changes that are in none.
func (m *merging) committed(ctx context.Context) error {
	s, err := m.from.state(ctx, "normal")
	if err != nil || s.paths() == 0 {
		return err
	}
	return fault.New(fault.Conflict, "workspace_dirty", "the workspace has changes that are not committed, which this strategy would leave out").
		WithHint("commit them there, or use patch_apply")
}

// advance moves the target to a commit that contains it, with its files where they are
// checked out: either all of it, or nothing. The changes were decided.
func (m *merging) advance(ctx context.Context, to string, changes []change) (mergeOutput, error) {
	if m.checkedOut {
		if err := m.clean(ctx, changes); err != nil {
			return mergeOutput{}, err
		}
	}
	return m.happen(ctx, to, changes, func(ctx context.Context) error { return m.move(ctx, to, changes) })
}

// happen keeps the difference that a merge to a commit, or a tree, makes, makes it, and
// records it: no merge goes without a diff, and what has begun is brought to an end. What
// fails after it has happened is told beside the answer.
func (m *merging) happen(ctx context.Context, to string, changes []change, move func(context.Context) error) (mergeOutput, error) {
	out := mergeOutput{Status: merged, Changed: m.names(changes)}
	if len(changes) > 0 {
		whole, err := m.compare(ctx, comparison{from: m.target, to: to})
		if err != nil {
			return mergeOutput{}, err
		}
		if out.DiffID, err = m.keep(ctx, "diff", "merge.diff", "text/x-diff", bytes.NewReader(whole)); err != nil {
			return mergeOutput{}, err
		}
	}
	record := runtime.Merge{Strategy: m.strategy, Source: m.source, Into: m.ref, Target: m.target, Result: to, Files: len(changes)}
	if m.strategy == patchApply {
		record.Result = ""
	} else if to != m.target {
		record.Back = m.back()
	}
	if move != nil && to != m.target {
		if err := move(context.WithoutCancel(ctx)); err != nil {
			return mergeOutput{}, err
		}
	}
	return out, m.access.MergedWorkspace(ctx, m.workspace, record)
}

// back is what a person types to have the branch where it was.
func (m *merging) back() string {
	argv := []string{"git", "-C", m.at.Top, "reset", "--keep", m.target}
	if !m.checkedOut {
		argv = []string{"git", "-C", m.at.Top, "branch", "--force", strings.TrimPrefix(m.ref, "refs/heads/"), m.target}
	}
	return permission.JoinArgv(argv) + " goes back to before the merge"
}
