package git

import (
	"context"
	"fmt"
	"strings"
)

func (c change) before() entry { return c.old }
func (c change) after() entry  { return c.new }

// takeBack puts back the files that a merge which failed has changed, and says how they are
// then. Before it they were as the target has them. Only what is now as the merge would have
// it is put back: it is in the repository, and lost to nobody. What is neither was changed by
// somebody else, or is half written, and stays.
func (m *merging) takeBack(ctx context.Context, why error, changes []change) error {
	left, err := m.putBack(ctx, changes)
	e := notMerged(why)
	switch {
	case err != nil:
		return e.WithHint("what became of the files is not known (%v): git status shows it", err)
	case len(left) > 0:
		return e.WithHint("nothing was merged, but these files are not as they were, written by somebody else or in part: %s", strings.Join(m.names(left[:min(len(left), 20)]), ", ")).
			With("paths", m.names(left))
	}
	return e
}

// putBack returns the changes whose files are not as they were.
func (m *merging) putBack(ctx context.Context, changes []change) (left []change, err error) {
	gone, err := m.differing(ctx, changes, change.before)
	if err != nil {
		return nil, err
	}
	foreign, err := m.differing(ctx, changes, change.after)
	if err != nil {
		return nil, err
	}
	var own []change
	for _, c := range changes {
		if gone[c.path] && !foreign[c.path] {
			own = append(own, c)
		}
	}
	if len(own) > 0 {
		m.restore(ctx, own)
		if gone, err = m.differing(ctx, changes, change.before); err != nil {
			return nil, err
		}
	}
	for _, c := range changes {
		if gone[c.path] {
			left = append(left, c)
		}
	}
	return left, nil
}

// restore has files be as they were. Whether it did is for who calls it to see.
func (m *merging) restore(ctx context.Context, changes []change) {
	var created strings.Builder
	for _, c := range changes {
		if c.old.mode == nowhere {
			created.WriteString(c.path + "\x00")
		}
	}
	_, _ = m.run(ctx, call{top: true, files: true, whole: true, script: removeScript, stdin: created.String()})
	_, _ = m.run(ctx, call{top: true, files: true, whole: true, script: restoreScript, stdin: indexInfo(changes, change.before)})
}

// removeScript removes the files whose names it reads, which the merge made. rm follows no
// link at the end of a name.
const removeScript = `exec xargs -0 -r rm -f --`

const restoreScript = indexScript + `exec git checkout-index --all --force --quiet`

// differing are the paths that are not as one side of the changes has them: by their
// content, whatever git's index says. A folder where nothing should be is no difference.
func (m *merging) differing(ctx context.Context, changes []change, side func(change) entry) (map[string]bool, error) {
	differ := map[string]bool{}
	for _, c := range changes {
		if side(c).mode != nowhere {
			continue
		}
		info, err := m.access.Files.Stat(m.at.Top + "/" + c.path)
		if err != nil {
			return nil, err
		}
		differ[c.path] = info.Exists && info.Type != "directory"
	}
	out, err := m.must(ctx, call{top: true, whole: true, limit: largeOutput, script: differScript, stdin: indexInfo(changes, side)})
	for _, name := range fields(out) {
		differ[name] = true
	}
	return differ, err
}

// indexInfo has the entries of one side for git update-index.
func indexInfo(changes []change, side func(change) entry) string {
	var lines strings.Builder
	for _, c := range changes {
		if e := side(c); e.mode != nowhere {
			fmt.Fprintf(&lines, "%s %s\t%s\x00", e.mode, e.id, c.path)
		}
	}
	return lines.String()
}

// indexScript begins with an index of nothing but the entries that it reads, which knows of
// no file yet.
const indexScript = `set -e
export GIT_INDEX_FILE="$TMPDIR/entries"
rm -f "$GIT_INDEX_FILE"
git update-index -z --index-info
`

const differScript = indexScript + `git update-index -q --refresh >/dev/null || true
exec git diff-files --name-only -z ` + diffSafe
