package git

import (
	"context"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// comparison is what a diff is between. Ids are object ids.
type comparison struct {
	from      string
	to        string // "" for the files, or with staged for the index
	staged    bool
	pathspecs []string // none is all
}

const (
	// diffSafe has git compare without running programs, looking into submodules or
	// depending on what the repository configures. It stands in scripts too.
	diffSafe = "--no-ext-diff --no-textconv --ignore-submodules=dirty --no-relative -O/dev/null"
	// patchForm has a diff look the same everywhere.
	patchForm = "--no-color --src-prefix=a/ --dst-prefix=b/ --unified=3 --inter-hunk-context=0 --submodule=short"
)

// maxChanged bounds the paths of a diff and of a merge: each is decided by itself.
const maxChanged = 10_000

// compare is a diff as text, without what may not be read: of that its head says the names.
func (r *repo) compare(ctx context.Context, c comparison) ([]byte, error) {
	changed, err := r.changedNames(ctx, c)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	hidden, err := r.unreadable(ctx, changed)
	if err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"diff", "--patch", "-M"}, strings.Fields(diffSafe), strings.Fields(patchForm), c.args())
	for _, name := range hidden {
		args = append(args, ":(top,exclude,literal)"+name)
	}
	return r.must(ctx, call{args: args, limit: largeOutput})
}

// args are the ends of the arguments of git diff.
func (c comparison) args() []string {
	var args []string
	if c.staged {
		args = append(args, "--cached")
	}
	args = append(args, c.from)
	if c.to != "" {
		args = append(args, c.to)
	}
	args = append(args, "--")
	if len(c.pathspecs) == 0 {
		return append(args, ":(top)")
	}
	return append(args, c.pathspecs...)
}

// changedNames are the paths that a comparison is about, a rename as two.
func (r *repo) changedNames(ctx context.Context, c comparison) ([]string, error) {
	args := slices.Concat([]string{"diff", "--name-only", "-z", "--no-renames"}, strings.Fields(diffSafe), c.args())
	out, err := r.must(ctx, call{args: args, whole: true, limit: largeOutput})
	if err != nil {
		return nil, err
	}
	names := fields(out)
	if len(names) > maxChanged {
		return nil, fault.New(fault.ResourceExhausted, "too_many_paths", "%d paths differ, the limit is %d", len(names), maxChanged).WithHint("narrow it with pathspecs")
	}
	return names, nil
}

// unreadable are those of the paths whose content may not be shown. Others that programs do
// not see without a decision about them are opened to git.
func (r *repo) unreadable(ctx context.Context, names []string) ([]string, error) {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = r.at.Top + "/" + name
	}
	may, err := r.commands.MayRead(paths)
	if err != nil {
		return nil, err
	}
	var hidden []string
	var opened []permission.Effect
	size := 0
	for i, name := range names {
		switch {
		case !may[i]:
			hidden, size = append(hidden, name), size+len(name)+24
		case slices.ContainsFunc(strings.Split(name, "/"), permission.MayBeGuarded):
			opened = append(opened, permission.Effect{Kind: permission.Read, Target: paths[i]})
		}
	}
	if r.commands, err = r.commands.Decide(ctx, opened); err != nil {
		return nil, err
	}
	if size > maxArguments {
		return nil, fault.New(fault.ResourceExhausted, "too_many_hidden", "%d of the paths that differ may not be read", len(hidden)).WithHint("narrow it with pathspecs")
	}
	slices.SortFunc(hidden, strings.Compare)
	return hidden, nil
}

// maxArguments bounds what is given to git as arguments, in bytes.
const maxArguments = 512 << 10
