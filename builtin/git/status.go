package git

import (
	"context"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

type statusInput struct {
	Cwd string `json:"cwd"`
}

type statusOutput struct {
	Branch     string   `json:"branch,omitempty"`
	Clean      bool     `json:"clean"`
	Staged     []string `json:"staged"`
	Modified   []string `json:"modified"`
	Untracked  []string `json:"untracked"`
	Conflicted []string `json:"conflicted"`
}

// maxPaths bounds the paths of an answer. With more the call fails, as the answer has no
// field that says that it is not whole; the first of each list come with the error.
const maxPaths = 10_000

func statusEffects(in statusInput) ([]permission.Effect, error) {
	return []permission.Effect{reads(in.Cwd)}, nil
}

func status(ctx context.Context, access *runtime.Access, in statusInput) (any, error) {
	r, err := open(ctx, access, access.Commands, in.Cwd)
	if err != nil {
		return nil, err
	}
	s, err := r.state(ctx, "normal")
	if err != nil {
		return nil, err
	}
	out := statusOutput{
		Branch: s.branch, Clean: s.paths() == 0,
		Staged: r.all(s.staged), Modified: r.all(s.modified), Untracked: r.all(s.untracked), Conflicted: r.all(s.conflicted),
	}
	if s.paths() <= maxPaths {
		return out, nil
	}
	out.shorten()
	return out, fault.New(fault.ResourceExhausted, "too_many_paths", "the status has %d paths, the limit is %d", s.paths(), maxPaths).
		WithHint("have git ignore what is generated; shell.run with git status shows a part").
		With("staged", len(s.staged)).With("modified", len(s.modified)).With("untracked", len(s.untracked)).With("conflicted", len(s.conflicted))
}

// state asks git for the state of the repository. untracked is normal, for folders of
// which nothing is tracked as one path, or no.
func (r *repo) state(ctx context.Context, untracked string) (state, error) {
	out, err := r.must(ctx, call{limit: largeOutput, whole: true, args: []string{
		"status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--untracked-files=" + untracked, "--ignored=no",
		"--ignore-submodules=dirty", "--find-renames",
	}})
	if err != nil {
		return state{}, err
	}
	return parseStatus(out)
}

func (r *repo) all(names []string) []string {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = r.shown(name)
	}
	return shown
}

func (o *statusOutput) shorten() {
	for _, list := range []*[]string{&o.Staged, &o.Modified, &o.Untracked, &o.Conflicted} {
		*list = (*list)[:min(len(*list), maxPaths/4)]
	}
}
