package fs_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime/backup"
)

// appliedSyncs is how often the records of manyPatch are synced: all together.
const appliedSyncs = 1

// meddler does something when the journal is synced for the nth time.
func meddler(after int, do func() error) backup.Options {
	n := 0
	return backup.Options{Sync: func(f *os.File) error {
		if n++; n == after {
			if err := do(); err != nil {
				return err
			}
		}
		return f.Sync()
	}}
}

// A change that cannot be made after all takes back those before it: whatever is in its way
// came between the last check and the change.
func TestApplyTakesBack(t *testing.T) {
	for name, c := range map[string]struct {
		meddle func(root string) error
		code   string
		stays  string // the path that was meddled with
	}{
		"edited":          {put("edit.txt"), "stale", "edit.txt"},
		"edited, deleted": {put("gone.txt"), "stale", "gone.txt"},
		"edited, moved":   {put("from.txt"), "stale", "from.txt"},
		"the last edited": {put("run.sh"), "stale", "run.sh"},
		"the last gone":   {func(root string) error { return os.Remove(filepath.Join(root, "run.sh")) }, "no_such_file", "run.sh"},
		"edited, as large and as old": {func(root string) error {
			path := filepath.Join(root, "edit.txt")
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile(path, bytes.Repeat([]byte("M"), int(info.Size())), 0o600), os.Chtimes(path, info.ModTime(), info.ModTime()))
		}, "stale", "edit.txt"},
		"a new file there": {put("new/deep/made.sh"), "exists", "new/deep/made.sh"},
		"a moved one too":  {put("sub/to.txt"), "exists", "sub/to.txt"},
		"another's inode": {func(root string) error {
			return errors.Join(os.WriteFile(filepath.Join(root, "x"), []byte("run\n"), 0o644), os.Rename(filepath.Join(root, "x"), filepath.Join(root, "run.sh")))
		}, "stale", "run.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			var root, meddled string
			r := rig.New(t, rig.Options{Backups: meddler(appliedSyncs, func() error {
				err := c.meddle(root)
				meddled = treeOf(t, root)
				return err
			})})
			root = r.Root
			manyFiles(t, r)
			e := r.Call("fs.patch", object{"patch": manyPatch})
			if e.Error == nil || e.Error.Code != c.code {
				t.Errorf("%+v", e.Error)
			}
			clean(t, r.Root)
			if after := treeOf(t, r.Root); after != withoutTemporaries(meddled) {
				t.Errorf("%s\nbefore\n%s", after, meddled)
			}
			failed(t, r.Call("air.undo", object{}), fault.NotFound, "nothing_to_undo")
		})
	}
}

// withoutTemporaries takes what is under a passing name out of a description.
func withoutTemporaries(tree string) string {
	return regexp.MustCompile(`(?s)(?:[^|]*/)?\.air-tmp-[^|]*\|`).ReplaceAllString(tree, "")
}

func put(name string) func(root string) error {
	return func(root string) error {
		path := filepath.Join(root, name)
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("theirs\n"), 0o600))
	}
}

// When a record cannot be kept, nothing is changed at all.
func TestApplyWithoutBackup(t *testing.T) {
	for name, o := range map[string]backup.Options{
		"not synced":              meddler(appliedSyncs, func() error { return errors.New("the disk is gone") }),
		"no room for all of them": {Limit: 1200}, // each takes a few hundred bytes
	} {
		t.Run(name, func(t *testing.T) {
			r := rig.New(t, rig.Options{Backups: o})
			manyFiles(t, r)
			before := treeOf(t, r.Root)
			if e := r.Call("fs.patch", object{"patch": manyPatch}); e.Error == nil {
				t.Error("it was applied")
			}
			if after := treeOf(t, r.Root); after != before {
				t.Errorf("%s\nbefore\n%s", after, before)
			}
			missing(t, filepath.Join(r.Root, "new"))
			missing(t, filepath.Join(r.Root, "sub"))
			failed(t, r.Call("air.undo", object{}), fault.NotFound, "nothing_to_undo")
		})
	}
}
