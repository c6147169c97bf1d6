package git

import (
	"context"

	"github.com/aircoding/air/internal/fault"
)

// move has the branch name a commit, and the files be those of it. The branch moves only
// from the commit that was looked at.
func (m *merging) move(ctx context.Context, to string, changes []change) error {
	message := "air: merge workspace " + m.workspace.ID
	if !m.checkedOut {
		if _, err := m.must(ctx, call{top: true, write: true, args: []string{"update-ref", "-m", message, m.ref, to, m.target}}); err != nil {
			return notMerged(err)
		}
		return nil
	}
	c := call{top: true, write: true, files: true, whole: true, script: moveScript, args: []string{m.ref, m.target, to, message}}
	a, err := m.run(ctx, c)
	switch {
	case err == nil && a.code == 0:
		return nil
	case err == nil && a.code == codeLocked:
		return fault.New(fault.Conflict, "index_locked", "another git works on the repository, or was killed while it did: there is a file index.lock").
			WithHint("when no git is running, a person can delete the file index.lock in .git")
	case err == nil:
		err = a.failure(c)
	}
	if now, look := m.resolve(ctx, m.ref); look == nil && now != m.target {
		return fault.New(fault.Conflict, "merged_partly", "the branch is no longer where it was, and the files may be neither of the old commit nor of the new: %w", err).
			WithHint("git status shows what differs; %s", m.back())
	}
	return m.takeBack(ctx, err, changes)
}

// A copy of an index keeps its time: by that git knows which files may have changed since,
// though their times in seconds and their sizes are the same.

// moveScript does what git merge does for a fast forward, and leaves index and branch as
// they are when a step of it fails. It holds the lock of the index as git does; git looks at
// all files before it changes one; the branch moves last, and the new index is in place at
// once. Its parameters are the branch, its commit, the new one, and a line for the log.
const moveScript = `set -e
lock=$GIT_DIR/index.lock index=$TMPDIR/index
(set -C; : >"$lock") || exit 75
trap 'rm -f "$lock"' EXIT
cp -p "$GIT_DIR/index" "$index"
git() { GIT_INDEX_FILE=$index command git "$@"; }
git update-index -q --refresh >/dev/null || true
git read-tree -m -u --no-recurse-submodules "$2" "$3"
cat "$index" >"$lock"
touch -r "$index" "$lock"
sync "$lock"
git update-ref -m "$4" "$1" "$3" "$2"
mv -f "$lock" "$GIT_DIR/index" || { git update-ref "$1" "$2" "$3"; exit 1; }
trap - EXIT`

const codeLocked = 75

// filesScript changes the files alone, from those of a commit to those of a tree.
const filesScript = `set -e
export GIT_INDEX_FILE="$TMPDIR/index"
cp -p "$GIT_DIR/index" "$GIT_INDEX_FILE"
git update-index -q --refresh >/dev/null || true
exec git read-tree -m -u --no-recurse-submodules "$1" "$2"`

func notMerged(err error) *fault.Error {
	return fault.New(fault.Conflict, "not_merged", "the files could not be changed: %w", err).WithHint("nothing was merged; the files are as they were")
}
