package runner

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// denied is the mode of the mount that a rule of a person has lie over a path, ok is false
// where none denies it. Programs that write a file can replace and delete it, so a rule
// against one of these has it read-only.
func (d *decided) denied(path string) (mode sandbox.Mode, ok bool) {
	switch {
	case d.denies == nil:
		return 0, false
	case d.denies(permission.Read, path):
		return sandbox.Covered, true
	}
	return sandbox.ReadOnly, d.denies(permission.Overwrite, path) || d.denies(permission.Delete, path) || d.denies(permission.Create, path)
}

// within reports whether all of a folder is within the bounds of the run.
func (d *decided) within(kind permission.Kind, dir string) bool {
	return d.bounds == nil || d.bounds.All(kind, dir)
}

// addWithin adds a folder as addFolder does, but of it only what is within the bounds of the
// run: a folder of which all is, and each file that is besides. What is written only cannot
// be seen only to be written, and is left out. start is a folder that is seen at least empty.
func (r *Runner) addWithin(ctx context.Context, v *view, j judge, dir, start string, writable bool) error {
	all := v.decided.within(permission.Read, dir)
	if all && (!writable || v.decided.within(permission.Overwrite, dir)) {
		return r.addFolder(ctx, v, j, dir, writable)
	}
	b := &bounded{Runner: r, view: v, judge: j, root: dir}
	if all {
		if err := r.addFolder(ctx, v, j, dir, false); err != nil {
			return err
		}
		return b.folder(ctx, dir, true, true)
	}
	if err := b.begin(start); err != nil {
		return err
	}
	return b.folder(ctx, dir, false, writable)
}

// bounded builds a folder up from what of it may be seen.
type bounded struct {
	*Runner
	*view
	judge
	root     string
	skeleton string // the host's folder with the places of what is mounted
	looked   int
}

// begin mounts a read-only folder, in which there is nothing but places for mounts.
func (b *bounded) begin(start string) error {
	state, err := b.state()
	if err != nil {
		return unready(b.root, err)
	}
	if b.skeleton, err = os.MkdirTemp(state, "bounded-"); err != nil {
		return unready(b.root, err)
	}
	free := b.free
	b.free = func() {
		_ = os.RemoveAll(b.skeleton) // it holds names only, and the next has one of its own
		free()
	}
	if err := b.prepare(b.view, b.root, true); err != nil {
		return err
	}
	b.view.mounts = append(b.view.mounts, sandbox.Mount{Source: b.skeleton, Target: b.root})
	if !isBelow(start, b.root) {
		return nil
	}
	return b.place(start, true)
}

// place makes the place of a mount.
func (b *bounded) place(path string, folder bool) error {
	at := filepath.Join(b.skeleton, strings.TrimPrefix(path, b.root))
	dir := at
	if !folder {
		dir = filepath.Dir(at)
	}
	err := os.MkdirAll(dir, 0o700)
	if err == nil && !folder {
		err = os.WriteFile(at, nil, 0o400)
	}
	if err != nil {
		return unready(path, err)
	}
	return nil
}

// folder adds what is within the bounds of one that is not as a whole. shown is true where
// it is seen, and only lacks what may be written.
func (b *bounded) folder(ctx context.Context, dir string, shown, writable bool) error {
	kind := permission.Read
	if shown {
		kind = permission.Overwrite
	}
	if !b.decided().bounds.Reaches(kind, dir) || shown && !writable {
		return nil
	}
	if b.looked++; b.looked > maxFolders {
		return tooManyFolders(b.root)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil // gone, or closed to who runs this
	}
	defer f.Close()
	return eachName(f, func(entry fs.DirEntry) error {
		path := filepath.Join(dir, entry.Name())
		mode, guarded := b.guarded(path)
		switch {
		case guarded && mode == sandbox.Covered, permission.IsRepository(entry.Name()):
			return nil
		case entry.IsDir():
			return b.subfolder(ctx, path, shown, writable && !guarded)
		case entry.Type().IsRegular():
			return b.file(path, shown, writable && !guarded)
		}
		return nil
	})
}

func (b *bounded) subfolder(ctx context.Context, dir string, shown, writable bool) error {
	bounds := b.decided().bounds
	all := shown || bounds.All(permission.Read, dir)
	open := all && writable && bounds.All(permission.Overwrite, dir)
	if all && !shown {
		if err := b.place(dir, true); err != nil {
			return err
		}
	}
	if open || all && !shown {
		if err := b.mount(func() error { return b.addFolder(ctx, b.view, b.judge, dir, open) }); err != nil {
			return err
		}
	}
	if open {
		return nil
	}
	return b.folder(ctx, dir, all, writable)
}

func (b *bounded) file(path string, shown, writable bool) error {
	bounds := b.decided().bounds
	if !shown && !bounds.May(permission.Read, path) {
		return nil
	}
	mode := sandbox.ReadOnly
	if writable && bounds.May(permission.Overwrite, path) {
		mode = sandbox.ReadWrite
	}
	if shown && mode == sandbox.ReadOnly {
		return nil
	}
	info, err := os.Lstat(path)
	if err != nil || b.paths.CheckLinks(path, info) != nil {
		return nil // gone, or another name of what is protected
	}
	if !shown {
		if err := b.place(path, false); err != nil {
			return err
		}
	}
	return b.mount(func() error {
		b.view.mounts = append(b.view.mounts, sandbox.Mount{Target: path, Mode: mode})
		return nil
	})
}

// mount adds something, of which there is a bound.
func (b *bounded) mount(add func() error) error {
	if err := add(); err != nil {
		return err
	}
	if len(b.view.mounts) > maxGuards {
		return tooManyGuards(b.root)
	}
	return nil
}

func (b *bounded) decided() *decided { return b.judge.decided }
