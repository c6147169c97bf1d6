package git

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// snapshotScript writes what a worktree holds, with what was not committed and what is not
// tracked yet, against a commit: the names, an empty one, and the patch. It works on a copy
// of the index, and new objects go to a folder that goes with the run: nothing of the
// repository changes. Its parameters are the commit, the folder of objects, and what to
// leave out.
const snapshotScript = `set -e
base=$1 objects=$2
shift 2
mkdir "$TMPDIR/objects"
cp -p "$GIT_DIR/index" "$TMPDIR/index"
export GIT_INDEX_FILE="$TMPDIR/index" GIT_OBJECT_DIRECTORY="$TMPDIR/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects"
git add --all -- :/ "$@"
git diff --cached --name-only -z --no-renames ` + diffSafe + ` "$base" --
printf '\0'
exec git diff --cached --binary --full-index --no-renames ` + diffSafe + ` ` + patchForm + ` "$base" --`

// patch applies what the workspace has that the target has not, as changes of the files
// that are not committed: all of it, or nothing.
func (m *merging) patch(ctx context.Context) (mergeOutput, error) {
	base, err := m.mergeBase(ctx)
	if err != nil {
		return mergeOutput{}, err
	}
	names, patch, err := m.snapshot(ctx, base)
	if err != nil {
		return mergeOutput{}, err
	}
	if len(names) == 0 {
		return m.happen(ctx, m.target, nil, nil)
	}
	tree, err := m.patchedTree(ctx, patch)
	if err != nil {
		return mergeOutput{}, err
	}
	if tree.code == 1 {
		return m.rejected(ctx, names, tree)
	}
	to := strings.TrimSpace(string(tree.out))
	changes, err := m.planned(ctx, to)
	if err != nil {
		return mergeOutput{}, err
	}
	if err := m.clean(ctx, changes); err != nil {
		return mergeOutput{}, err
	}
	files := slices.DeleteFunc(slices.Clone(changes), change.isLink)
	return m.happen(ctx, to, changes, func(ctx context.Context) error {
		return m.commands.Keeping(ctx, m.effects(files), len(files) < len(changes), func() error { return m.apply(ctx, to, changes) })
	})
}

// patchedTree is a tree of the target with a patch, made without touching files, index or
// branches; where the patch does not fit, the answer's code is 1.
func (m *merging) patchedTree(ctx context.Context, patch []byte) (answer, error) {
	c := call{top: true, write: true, script: treeScript, args: []string{m.target}, stdin: string(patch)}
	a, err := m.run(ctx, c)
	if err == nil && a.code > 1 {
		err = a.failure(c)
	}
	return a, err
}

const treeScript = `set -e
export GIT_INDEX_FILE="$TMPDIR/index"
git read-tree "$1"
git apply --cached --whitespace=nowarn --binary -p1 -
exec git write-tree`

// apply changes the files, and neither index nor branch.
func (m *merging) apply(ctx context.Context, to string, changes []change) error {
	c := call{top: true, files: true, whole: true, script: filesScript, args: []string{m.target, to}}
	a, err := m.run(ctx, c)
	if err == nil && a.code != 0 {
		err = a.failure(c)
	}
	if err == nil {
		return nil
	}
	return m.takeBack(ctx, err, changes)
}

// snapshot is a patch from a commit to what the workspace holds, and the names in it. Files
// that hold secrets, by their names, are in it only as they were committed.
func (m *merging) snapshot(ctx context.Context, base string) ([]string, []byte, error) {
	args := []string{base, m.at.Common + "/objects"}
	guarded := permission.GuardedFrom(permission.Read)
	for _, name := range guarded.Names {
		args = append(args, without(name)...)
	}
	for _, beginning := range guarded.Beginnings {
		args = append(args, without(beginning+"*")...)
	}
	for _, ending := range guarded.Endings {
		args = append(args, without("*"+ending)...)
	}
	out, err := m.from.must(ctx, call{top: true, limit: largeOutput, script: snapshotScript, args: args})
	if err != nil {
		return nil, nil, err
	}
	return parseSnapshot(out)
}

func parseSnapshot(out []byte) (names []string, patch []byte, err error) {
	for {
		name, rest, ok := bytes.Cut(out, []byte{0})
		switch {
		case !ok:
			return nil, nil, fault.New(fault.Internal, "bug", "git diff wrote names that are not understood")
		case len(name) == 0:
			return names, rest, checkCount(len(names))
		}
		names, out = append(names, string(name)), rest
	}
}

// without leaves out what has a name, and what lies in a folder of that name.
func without(name string) []string {
	return []string{":(top,exclude,icase,glob)**/" + name, ":(top,exclude,icase,glob)**/" + name + "/**"}
}

// mergeBase is the newest commit that the workspace and the target share, or that which the
// workspace was made from.
func (m *merging) mergeBase(ctx context.Context) (string, error) {
	c := call{top: true, args: []string{"merge-base", m.target, m.source}}
	a, err := m.run(ctx, c)
	if err != nil {
		return "", err
	}
	if id := strings.TrimSpace(string(a.out)); a.code == 0 && isObjectID(id) {
		return id, nil
	}
	return m.workspace.Base, nil
}

// rejected is what becomes of a patch that does not fit.
func (m *merging) rejected(ctx context.Context, names []string, check answer) (mergeOutput, error) {
	report := m.report(strings.Split(strings.TrimSpace(check.stderr), "\n"))
	for _, name := range names {
		if strings.Contains(check.stderr, name) {
			report.Files = append(report.Files, conflictFile{Path: m.shown(name), Omitted: "the change does not fit the file as it is; nothing was applied"})
		}
	}
	return m.conflicted(ctx, report)
}
