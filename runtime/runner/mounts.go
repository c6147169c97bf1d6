package runner

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// view is what a launched program sees of the host.
type view struct {
	mounts    []sandbox.Mount
	surveys   []*survey
	decided   *decided
	free      func()  // gives back what home mounts hold
	dir       string  // of records
	record    *record // nil where nothing is to be settled
	placed    []placed
	succeeded bool // the program, which decides about places that it did not use
}

// mounts makes a view: the system, the home of commands, the project with what is protected
// in it, and what was decided outside. A later mount lies over an earlier one.
func (r *Runner) mounts(ctx context.Context, l runtime.Launch) (v *view, err error) {
	v = &view{decided: decidedFor(l), free: func() {}}
	defer func() {
		if err != nil {
			v.done()
		}
	}()
	v.mounts = sandbox.System()
	v.mounts = append(v.mounts, r.systemCovers(v.mounts)...)
	home, free, err := r.homeMounts(ctx, l)
	if err != nil {
		return v, err
	}
	v.mounts, v.free = append(v.mounts, home...), free
	if err := r.addProject(ctx, v, l); err != nil {
		return v, err
	}
	return v, r.addOutside(ctx, v, l)
}

// done lets go of what the view holds.
func (v *view) done() {
	for _, s := range v.surveys {
		s.close()
	}
	for _, p := range v.placed {
		p.remove(!v.succeeded)
	}
	if v.record != nil { // it never began
		v.record.remove(v.dir)
	}
	v.free()
}

// trees are the folders that a run may change, as it found them.
func (v *view) trees() (all []tree) {
	for _, s := range v.surveys {
		if !s.outside && !s.fixed && !v.decided.whole {
			all = append(all, s.tree())
		}
	}
	return all
}

// settle takes away what a run made that others would obey, see survey.withhold.
func (r *Runner) settle(v *view) error {
	if v.record == nil {
		return nil
	}
	var all outcome
	c := v.record
	v.record = nil
	dir, err := r.records()
	others := []*record(nil)
	if err == nil {
		others, err = allRecords(dir)
	}
	others = slices.DeleteFunc(others, func(o *record) bool { return o.id == c.id })
	v.decided.account(c.Began, others)
	for _, s := range v.surveys {
		all.add(s.root, s.withhold(c.id))
	}
	c.Failed, c.Stuck, c.Accepted = all.err != nil || len(all.stuck) > 0, all.stuck, all.accepted
	if err == nil {
		err = c.settled(dir, others)
	}
	all.err = errors.Join(all.err, err)
	return all.fault("the command", c.id)
}

// systemCovers hide air's own folder, and credentials, where they lie in a folder of the
// system.
func (r *Runner) systemCovers(system []sandbox.Mount) (covers []sandbox.Mount) {
	j := judge{paths: r.config.Paths}
	for _, m := range system {
		for _, place := range r.config.Paths.GuardedPlaces(m.Target) {
			if class := j.class(place, permission.Read); m.Mode == sandbox.ReadOnly && class != permission.ClassSystem {
				covers = append(covers, sandbox.Mount{Target: place, Mode: sandbox.Covered, Optional: true})
			}
		}
	}
	return covers
}

// addProject adds the project and those of its worktrees that the run has to do with, where
// it starts in one of them. A command line may write to that one, and to another in which
// something is decided to be written; what is seen of the rest is read-only.
func (r *Runner) addProject(ctx context.Context, v *view, l runtime.Launch) error {
	if !r.inProject(l.Dir) {
		return nil
	}
	for _, dir := range r.trees(v.decided, l.Dir) {
		writable := l.Text != "" && (isBelow(l.Dir, dir) || v.decided.worksIn(dir)) || v.decided.makes(dir)
		if !exists(dir) && v.decided.makes(dir) {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return fault.IO("creating "+dir, err)
			}
		}
		if !exists(dir) {
			continue
		}
		if err := r.addWithin(ctx, v, projectJudge(r.config.Paths, v.decided), dir, l.Dir, writable); err != nil {
			return err
		}
	}
	return nil
}

// trees are the project, and those of its worktrees that the run has to do with.
func (r *Runner) trees(d *decided, dir string) (all []string) {
	if r.config.Root != "" {
		all = append(all, r.config.Root)
	}
	for _, e := range append([]permission.Effect{{Target: dir}}, d.paths...) {
		if tree := r.config.Paths.Worktree(e.Target); tree != "" && !slices.Contains(all, tree) {
			all = append(all, tree)
		}
	}
	return all
}

// addFolder adds a folder with what is protected in it, and what of it may be written where
// the whole may not.
func (r *Runner) addFolder(ctx context.Context, v *view, j judge, dir string, writable bool) error {
	if err := r.prepare(v, dir, true); err != nil {
		return err
	}
	if _, denied := v.decided.denied(dir); denied {
		writable = false
	}
	mode := sandbox.ReadOnly
	if writable {
		mode = sandbox.ReadWrite
	}
	v.mounts = append(v.mounts, sandbox.Mount{Target: dir, Mode: mode})
	open := r.openFolders(v.decided, dir)
	if !writable {
		for _, folder := range open {
			v.mounts = append(v.mounts, sandbox.Mount{Target: folder, Mode: sandbox.ReadWrite})
		}
	}
	s := &survey{judge: j, root: dir, main: r.config.Root, fixed: !writable && len(open) == 0, outside: j.resolve, made: v.decided.makes(dir)}
	v.surveys = append(v.surveys, s)
	if err := s.look(ctx); err != nil {
		return err
	}
	for _, g := range s.guards {
		v.mounts = append(v.mounts, g.mount())
	}
	return r.addSpecial(ctx, v, dir)
}

// unready is an error that keeps the view from being made.
func unready(path string, err error) error {
	return fault.New(fault.Unavailable, "no_place", "preparing a place for %s in what commands see: %w", path, err)
}
