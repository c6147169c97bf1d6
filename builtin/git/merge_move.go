package git

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// move has the branch name a commit, and the files be those of it. The branch moves only
// from the commit that was looked at.
func (m *merging) move(ctx context.Context, to string, changes []change) error {
	message := "air: merge workspace " + m.workspace.ID
	if !m.checkedOut {
		_, err := m.must(ctx, call{top: true, write: true, args: []string{"update-ref", "-m", message, m.ref, to, m.target}})
		return moved(err)
	}
	lasting := context.WithoutCancel(ctx) // what has begun is brought to an end
	c := call{top: true, write: true, files: true, whole: true, script: moveScript, args: []string{m.ref, m.target, to, message}}
	a, err := m.run(lasting, c)
	switch {
	case err == nil && a.code == 0:
		return nil
	case err == nil && a.code == codeLocked:
		return fault.New(fault.Conflict, "index_locked", "another git works on the repository, or was killed while it did: there is a file index.lock").
			WithHint("when no git is running, a person can delete the file index.lock in .git")
	case err == nil:
		err = a.failure(c)
	}
	return errors.Join(moved(err), m.takeBack(lasting, to, changes))
}

// takeBack restores the files that a move which failed has changed: those that are as the
// commit has them, or not there. Others were changed by somebody else meanwhile.
func (m *merging) takeBack(ctx context.Context, to string, changes []change) error {
	out, err := m.must(ctx, call{top: true, limit: largeOutput, script: differScript, args: []string{to}})
	if err != nil {
		return err
	}
	others := map[string]bool{}
	for _, name := range fields(out) {
		info, err := m.access.Files.Stat(m.at.Top + "/" + name)
		others[name] = err == nil && info.Exists
	}
	return m.restore(ctx, slices.DeleteFunc(slices.Clone(changes), func(c change) bool { return others[c.path] }))
}

// moveScript does what git merge does for a fast forward, and leaves index and branch as
// they are when a step of it fails. It holds the lock of the index as git does; git looks at
// all files before it changes one; the branch moves last, and the new index is in place at
// once. Its parameters are the branch, its commit, the new one, and a line for the log.
const moveScript = `set -e
lock=$GIT_DIR/index.lock index=$TMPDIR/index
(set -C; : >"$lock") || exit 75
trap 'rm -f "$lock"' EXIT
cp "$GIT_DIR/index" "$index"
git() { GIT_INDEX_FILE=$index command git --no-optional-locks --no-pager "$@"; }
git update-index -q --refresh >/dev/null || true
git read-tree -m -u --no-recurse-submodules "$2" "$3"
cat "$index" >"$lock"
sync "$lock"
git update-ref -m "$4" "$1" "$3" "$2"
mv -f "$lock" "$GIT_DIR/index"
trap - EXIT`

const codeLocked = 75

// differScript lists the files that are not as a commit has them.
const differScript = `set -e
export GIT_INDEX_FILE="$TMPDIR/index"
git --no-optional-locks --no-pager read-tree "$1"
exec git --no-optional-locks --no-pager diff --no-ext-diff --no-textconv --no-renames --name-only -z --ignore-submodules=dirty --no-relative -O/dev/null`

func moved(err error) error {
	if err == nil {
		return nil
	}
	return fault.New(fault.Conflict, "not_merged", "the files could not be changed: %w", err).WithHint("nothing was merged; the files are as they were")
}

// restore puts back files that had no changes before a merge that failed half-way: what the
// index has, and nothing where it has none.
func (m *merging) restore(ctx context.Context, changes []change) error {
	var known, created strings.Builder
	for _, c := range changes {
		if c.created {
			created.WriteString(c.path + "\x00")
		} else {
			known.WriteString(c.path + "\x00")
		}
	}
	_, err := m.must(ctx, call{top: true, files: true, whole: true, args: []string{"checkout-index", "--force", "--quiet", "-z", "--stdin"}, stdin: known.String()})
	_, removal := m.must(ctx, call{top: true, files: true, whole: true, script: removeScript, stdin: created.String()})
	return errors.Join(err, removal)
}

// removeScript removes the files whose names it reads. They were not there before the
// merge, and rm follows no link at the end of a name.
const removeScript = `exec xargs -0 -r rm -f --`
