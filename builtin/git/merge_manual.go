package git

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// manual merges the commits of the workspace into those of the target, as git merge does,
// in memory: files and branch change only when nothing conflicts.
func (m *merging) manual(ctx context.Context) (mergeOutput, error) {
	if err := m.committed(ctx); err != nil {
		return mergeOutput{}, err
	}
	contained, err := m.isAncestor(ctx, m.source, m.target)
	if err != nil {
		return mergeOutput{}, err
	}
	if contained { // nothing to merge
		return m.happen(ctx, m.target, nil, nil)
	}
	t, err := m.mergedTree(ctx)
	if err != nil {
		return mergeOutput{}, err
	}
	if !t.clean {
		return m.conflict(ctx, t)
	}
	changes, err := m.planned(ctx, t.id)
	if err != nil {
		return mergeOutput{}, err
	}
	commit, err := m.commit(ctx, t.id)
	if err != nil {
		return mergeOutput{}, err
	}
	return m.advance(ctx, commit, changes)
}

// mergeTree is what git merge-tree says: a tree, and where it is not clean the paths that
// conflict, which then hold both sides between markers.
type mergeTree struct {
	id       string
	clean    bool
	paths    []string
	messages []string
}

// mergedTree merges without touching files, index or branches: git adds objects to the
// repository that nothing refers to, which it removes by itself some day.
func (m *merging) mergedTree(ctx context.Context) (mergeTree, error) {
	c := call{top: true, write: true, limit: largeOutput, args: []string{"merge-tree", "--write-tree", "-z", "--messages", m.target, m.source}}
	a, err := m.run(ctx, c)
	if err != nil {
		return mergeTree{}, err
	}
	switch {
	case a.code == 129:
		return mergeTree{}, fault.New(fault.DependencyMissing, "git_too_old", "this git cannot merge without touching files").WithHint("git 2.38 or later is wanted; use fast_forward or patch_apply")
	case strings.Contains(a.stderr, "unrelated histories"):
		return mergeTree{}, fault.New(fault.Conflict, "unrelated_histories", "the workspace and the target have no commit in common")
	case strings.Contains(a.stderr, ".merge_file_"): // git would hand such a file to the program
		return mergeTree{}, fault.New(fault.Conflict, "merge_driver", "both sides changed a file that the repository has a program of its own merge, which is not executed").
			WithHint("a person can merge it with git")
	case a.code > 1:
		return mergeTree{}, a.failure(c)
	}
	t, err := parseMergeTree(a.out)
	t.clean = a.code == 0
	return t, err
}

// parseMergeTree reads https://git-scm.com/docs/git-merge-tree#OUTPUT with NUL: the tree,
// entries of conflicts up to an empty one, and messages.
func parseMergeTree(out []byte) (t mergeTree, err error) {
	parts := fields(out)
	if len(parts) == 0 || !isObjectID(parts[0]) {
		return t, fault.New(fault.Internal, "bug", "git merge-tree wrote %.100q, which is not understood", out)
	}
	t.id, parts = parts[0], parts[1:]
	for len(parts) > 0 && parts[0] != "" {
		if _, name, ok := strings.Cut(parts[0], "\t"); ok && !slices.Contains(t.paths[max(0, len(t.paths)-3):], name) {
			t.paths = append(t.paths, name)
		}
		parts = parts[1:]
	}
	for i := 1; i < len(parts); { // a count of paths, the paths, the kind, the text
		count, err := strconv.Atoi(parts[i])
		if err != nil || count < 0 || count > len(parts) || i+count+2 >= len(parts) {
			break
		}
		t.messages = append(t.messages, strings.TrimSpace(parts[i+count+2]))
		i += count + 3
	}
	return t, nil
}

// commit makes the commit that joins the target and the workspace. Who the person is comes
// from the repository, or from what air tells commands.
func (m *merging) commit(ctx context.Context, tree string) (string, error) {
	message := "Merge workspace " + m.workspace.Branch
	c := call{top: true, write: true, script: commitScript, args: []string{tree, m.target, m.source, message}}
	a, err := m.run(ctx, c)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(a.out))
	if a.code != 0 || !isObjectID(id) {
		if strings.Contains(a.stderr, "user.email") || strings.Contains(a.stderr, "identity") || strings.Contains(a.stderr, "ident name") {
			return "", fault.New(fault.Conflict, "no_identity", "git does not know whose name and mail address a commit has").
				WithHint("a person sets them with: git config --global user.name NAME; git config --global user.email ADDRESS")
		}
		return "", a.failure(c)
	}
	return id, nil
}

const commitScript = `GIT_CONFIG_GLOBAL="$HOME/.gitconfig" exec git -c user.useConfigOnly=true commit-tree --no-gpg-sign -p "$2" -p "$3" -m "$4" "$1"`
