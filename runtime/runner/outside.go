package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// addOutside adds what was decided outside of the project: a file by itself, a folder with
// what lies in it where all of that was decided about. Of a folder that is only listed, or
// started in, nothing is seen but what else was decided.
func (r *Runner) addOutside(ctx context.Context, v *view, l runtime.Launch) error {
	within := r.inProject(l.Dir)
	for _, e := range v.decided.paths {
		if isOwn(e.Target) || r.seen(v, e.Target) && e.Kind == permission.Read || within && r.inProject(e.Target) {
			continue
		}
		if err := r.addDecided(ctx, v, e); err != nil {
			return err
		}
	}
	return r.addEmpty(v, l.Dir)
}

// isOwn reports whether a path is the sandbox's own: nothing of the host is mounted there.
func isOwn(path string) bool {
	return isBelow(path, "/proc") || isBelow(path, "/dev") ||
		slices.Contains([]string{"/etc/passwd", "/etc/group", "/tmp", "/"}, path)
}

func (r *Runner) inProject(path string) bool {
	return isBelow(path, r.config.Root) || r.config.Paths.Worktree(path) != ""
}

// seen reports whether a path is seen inside as it is on the host.
func (r *Runner) seen(v *view, path string) bool {
	for _, m := range slices.Backward(v.mounts) {
		if isBelow(path, m.Target) && m.Target != r.realHome() {
			return m.Mode != sandbox.Covered && (m.Source == "" || m.Source == m.Target)
		}
	}
	return false
}

// addDecided adds the path of one effect.
func (r *Runner) addDecided(ctx context.Context, v *view, e permission.Effect) error {
	info, err := os.Lstat(e.Target)
	folder := err == nil && info.IsDir()
	switch {
	case err != nil && e.Kind == permission.Create:
		return r.addCreated(ctx, v, e)
	case err != nil || info.Mode()&fs.ModeSymlink != 0: // it is not there, or not what was decided about
		return nil
	case folder && e.Recursive:
		return r.addTree(ctx, v, e)
	case folder:
		return r.addEmpty(v, e.Target)
	}
	return r.addFile(v, e.Target, e.Kind)
}

func (r *Runner) addFile(v *view, path string, kind permission.Kind) error {
	id, err := sandbox.FileIDOf(path)
	if err != nil {
		return unready(path, err)
	}
	mode := sandbox.ReadOnly
	if kind != permission.Read {
		mode = sandbox.ReadWrite
	}
	m := sandbox.Mount{Target: path, Mode: mode}
	if r.seen(v, path) {
		m.Over = id
	} else if err := r.prepare(v, path, false); err != nil {
		return err
	}
	v.mounts = append(v.mounts, m)
	return nil
}

// addCreated makes what is to be created, so that it can be mounted, where the folder that
// it comes into exists. It is empty, and goes again where the program does not write to it.
func (r *Runner) addCreated(ctx context.Context, v *view, e permission.Effect) error {
	folder := v.decided.makesFolder(e)
	var err error
	if folder {
		err = os.Mkdir(e.Target, 0o755)
	} else {
		var f *os.File
		if f, err = os.OpenFile(e.Target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666); err == nil {
			err = f.Close()
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // the folder is not there either: the program says so
		return nil
	case err != nil && !errors.Is(err, fs.ErrExist):
		return fault.IO("creating "+e.Target, err)
	case err == nil:
		v.notePlaced(e.Target)
	}
	switch {
	case folder:
		e.Recursive = true
		return r.addTree(ctx, v, e)
	}
	return r.addFile(v, e.Target, e.Kind)
}

// placed is an empty file or folder that was made for a program to write to.
type placed struct {
	path string
	info fs.FileInfo
}

func (v *view) notePlaced(path string) {
	if info, err := os.Lstat(path); err == nil {
		v.placed = append(v.placed, placed{path, info})
	}
}

// remove takes a file away that nothing wrote to or touched, and an empty folder where the
// program failed: nobody knows whether one that is there already was wanted.
func (p placed) remove(failed bool) {
	now, err := os.Lstat(p.path)
	switch {
	case err != nil || !os.SameFile(now, p.info):
	case now.IsDir() && failed:
		_ = os.Remove(p.path)
	case now.Mode().IsRegular() && now.Size() == 0 && changeTime(now) == changeTime(p.info):
		_ = os.Remove(p.path)
	}
}

// addTree adds a folder of which all was decided about, but for what in it has another
// class.
func (r *Runner) addTree(ctx context.Context, v *view, e permission.Effect) error {
	if isBelow(r.realHome(), e.Target) || isBelow("/proc", e.Target) {
		return fault.New(fault.PermissionDenied, "whole_home", "%s holds the whole home of the person, or the machine: a command cannot have all of it", e.Target).
			WithHint("name the folder in it that is meant")
	}
	j := judgeOf(r.config.Paths, v.decided, e.Target)
	if r.inProject(e.Target) {
		j = projectJudge(r.config.Paths, v.decided)
	}
	return r.addWithin(ctx, v, j, e.Target, "", e.Kind != permission.Read)
}

// addEmpty adds an empty folder in the place of one of the host.
func (r *Runner) addEmpty(v *view, dir string) error {
	if isOwn(dir) || r.seen(v, dir) || isBelow(r.realHome(), dir) || slices.ContainsFunc(v.mounts, func(m sandbox.Mount) bool { return isBelow(m.Target, dir) }) {
		return nil // it is there, or comes to be with what lies in it
	}
	if isBelow(dir, r.realHome()) {
		return r.prepare(v, dir, true)
	}
	state, err := r.state()
	if err != nil {
		return unready(dir, err)
	}
	empty := filepath.Join(state, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return unready(dir, err)
	}
	v.mounts = append(v.mounts, sandbox.Mount{Source: empty, Target: dir})
	return nil
}

// prepare makes a place in the home of commands for what is mounted there: the sandbox
// creates nothing in a folder of the host.
func (r *Runner) prepare(v *view, target string, folder bool) error {
	home := r.realHome()
	rel, below := strings.CutPrefix(target, home+"/")
	if !below || slices.ContainsFunc(v.mounts, func(m sandbox.Mount) bool {
		return m.Target != home && strings.HasPrefix(target, m.Target+"/")
	}) {
		return nil
	}
	private, err := r.privateHome()
	if err != nil {
		return unready(target, err)
	}
	root, err := os.OpenRoot(private)
	if err != nil {
		return unready(target, err)
	}
	defer root.Close()
	if err := makePlace(root, rel, folder); err != nil {
		return unready(target, err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
