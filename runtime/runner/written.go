package runner

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// openFolders are those in a folder in which something may be written, where the whole may
// not: a file is written, replaced or deleted by its folder. Of two that lie in each other
// the outer one counts.
func (r *Runner) openFolders(d *decided, root string) (open []string) {
	for _, e := range d.paths {
		if e.Kind == permission.Read || !isBelow(e.Target, root) || e.Class != permission.ClassProject {
			continue
		}
		folder := e.Target
		if !e.Recursive || e.Kind == permission.Delete && !e.Below {
			folder = filepath.Dir(folder)
		}
		if folder = existing(folder); isBelow(folder, root) && d.within(permission.Overwrite, folder) && !slices.ContainsFunc(open, func(o string) bool { return isBelow(folder, o) }) {
			open = append(slices.DeleteFunc(open, func(o string) bool { return isBelow(o, folder) }), folder)
		}
	}
	return open
}

// existing is the folder itself, or the nearest one above it that exists.
func existing(folder string) string {
	for folder != "/" {
		if info, err := os.Lstat(folder); err == nil && info.IsDir() {
			return folder
		}
		folder = filepath.Dir(folder)
	}
	return folder
}

// makes reports whether a folder is to be created, or all in it may be written.
func (d *decided) makes(dir string) bool {
	return slices.ContainsFunc(d.paths, func(e permission.Effect) bool {
		return e.Target == dir && e.Kind != permission.Read && e.Kind != permission.Delete
	})
}

// addSpecial opens what in a folder was decided about though it is guarded, where it lies in
// something that is read-only for that.
func (r *Runner) addSpecial(ctx context.Context, v *view, root string) error {
	if v.decided.whole {
		return nil
	}
	for _, e := range v.decided.special {
		if e.Kind == permission.Read || e.Kind == permission.Delete || !isBelow(e.Target, root) || e.Target == root || v.modeAt(e.Target) != sandbox.ReadOnly {
			continue
		}
		if err := r.addDecided(ctx, v, e); err != nil {
			return err
		}
	}
	return nil
}

// modeAt is that of the last mount over a path.
func (v *view) modeAt(path string) sandbox.Mode {
	for _, m := range slices.Backward(v.mounts) {
		if isBelow(path, m.Target) {
			return m.Mode
		}
	}
	return sandbox.Covered
}
