package git

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// snapshotScript writes what a worktree holds, with what was not committed and what is not
// tracked yet, against a commit: the names with their states, an empty one, and the patch. It
// works on a copy of the index, and new objects go
// to a folder that goes with the run: nothing of the repository changes. Its parameters are
// the commit, the folder of objects, and what to leave out.
const snapshotScript = `set -e
base=$1 objects=$2
shift 2
mkdir "$TMPDIR/objects"
cp "$GIT_DIR/index" "$TMPDIR/index"
export GIT_INDEX_FILE="$TMPDIR/index" GIT_OBJECT_DIRECTORY="$TMPDIR/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects"
git --no-optional-locks --no-pager add --all -- :/ "$@"
git --no-optional-locks --no-pager diff --cached --no-ext-diff --no-textconv --no-renames --name-status -z --ignore-submodules=dirty --no-relative -O/dev/null "$base" --
printf '\0'
exec git --no-optional-locks --no-pager diff --cached --binary --full-index --no-color --no-ext-diff --no-textconv --no-renames --src-prefix=a/ --dst-prefix=b/ --unified=3 --inter-hunk-context=0 --submodule=short --ignore-submodules=dirty --no-relative -O/dev/null "$base" --`

// patch applies what the workspace has that the target has not, as changes of the files
// that are not committed: all of it, or nothing.
func (m *merging) patch(ctx context.Context) (mergeOutput, error) {
	base, err := m.mergeBase(ctx)
	if err != nil {
		return mergeOutput{}, err
	}
	changes, whole, err := m.snapshot(ctx, base)
	if err != nil || len(changes) == 0 {
		return mergeOutput{Status: merged, Changed: []string{}}, err
	}
	if err := m.decide(ctx, changes); err != nil {
		return mergeOutput{}, err
	}
	if err := m.clean(ctx, changes); err != nil {
		return mergeOutput{}, err
	}
	check, err := m.run(ctx, call{top: true, stdin: string(whole), args: applyArgs("--check")})
	if err != nil {
		return mergeOutput{}, err
	}
	if check.code != 0 {
		return m.rejected(ctx, changes, check)
	}
	if err := m.apply(context.WithoutCancel(ctx), string(whole), changes); err != nil { // what has begun is brought to an end
		return mergeOutput{}, err
	}
	return m.patchDone(ctx, changes, whole)
}

// apply changes the files. git looks at all of them first and then ends with 1; what fails
// later has changed some.
func (m *merging) apply(ctx context.Context, patch string, changes []change) error {
	c := call{top: true, files: true, whole: true, stdin: patch, args: applyArgs()}
	a, err := m.run(ctx, c)
	switch {
	case err == nil && a.code == 0:
		return nil
	case err == nil && a.code == 1:
		return moved(a.failure(c))
	case err == nil:
		err = a.failure(c)
	}
	return errors.Join(moved(err), m.restore(ctx, changes))
}

// snapshot is a patch from a commit to what the workspace holds, and what it changes. Files
// that hold secrets, by their names, are in it only as they were committed.
func (m *merging) snapshot(ctx context.Context, base string) ([]change, []byte, error) {
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

func parseSnapshot(out []byte) (changes []change, patch []byte, err error) {
	for {
		status, rest, ok := bytes.Cut(out, []byte{0})
		if ok && len(status) == 0 {
			return changes, rest, checkCount(len(changes))
		}
		name, rest, found := bytes.Cut(rest, []byte{0})
		if !ok || !found {
			return nil, nil, fault.New(fault.Internal, "bug", "git diff wrote names that are not understood")
		}
		changes, out = append(changes, changeOf(string(status), string(name))), rest
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

func applyArgs(more ...string) []string {
	return append(append([]string{"apply", "--whitespace=nowarn", "--binary", "-p1"}, more...), "-")
}

// rejected is what becomes of a patch that does not fit.
func (m *merging) rejected(ctx context.Context, changes []change, check answer) (mergeOutput, error) {
	report := m.report(strings.Split(strings.TrimSpace(check.stderr), "\n"))
	for _, c := range changes {
		if strings.Contains(check.stderr, c.path) {
			report.Files = append(report.Files, conflictFile{Path: m.shown(c.path), Omitted: "the change does not fit the file as it is; nothing was applied"})
		}
	}
	return m.conflicted(ctx, report)
}

func (m *merging) patchDone(ctx context.Context, changes []change, patch []byte) (mergeOutput, error) {
	out, err := m.done(ctx, changes, "")
	if err == nil {
		out.DiffID, err = m.keep(ctx, "diff", "merge.diff", "text/x-diff", bytes.NewReader(patch))
	}
	return out, err
}
