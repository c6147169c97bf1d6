package runtime

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/event"
)

// apply puts back what has to be: all of it or nothing, of a run that changed more than
// maxApplied files so many at a time. When that ends in between, the same call goes on: what
// is done by then has nothing more to do.
func (u *undo) apply(ctx context.Context) (Undone, error) {
	journal, err := u.files.registry.journal(ctx, u.files.run, u.past.ID)
	if err != nil {
		return Undone{}, err
	}
	done := Undone{RunID: u.past.ID, Tool: u.past.Tool}
	for steps := range slices.Chunk(u.steps, maxApplied) {
		if err := u.putBack(ctx, steps); err != nil {
			return done, fmt.Errorf("undoing run %s, with %d of %d files done: %w", u.past.ID, len(done.Files), len(u.steps), err)
		}
		for i := range steps {
			done.Files = append(done.Files, UndoneFile{Path: u.files.show(steps[i].Path), Change: steps[i].change()})
		}
	}
	if err := journal.Done(); err != nil {
		return done, err
	}
	return done, u.files.registry.append(context.WithoutCancel(ctx), u.files.run, event.BackupRestored, map[string]any{
		"undone_run_id": u.past.ID, "undone_tool": text.Head(u.past.Tool, 128), "files": len(done.Files),
	})
}

func (s *undoStep) change() string {
	switch {
	case s.standing != backup.Undoable:
		return "unchanged"
	case s.To == nil:
		return "removed"
	}
	return "restored"
}

// putBack gives files the content, mode, owner and attributes that they had, and takes away
// those that the run had made.
func (u *undo) putBack(ctx context.Context, steps []undoStep) (err error) {
	a := &apply{files: u.files, undoes: u.past.ID}
	defer func() {
		a.close()
		if err != nil {
			a.unmake()
		}
	}()
	for i := range steps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if steps[i].standing != backup.Undoable {
			continue
		}
		if err := u.prepare(ctx, a, &steps[i]); err != nil {
			return err
		}
	}
	if err := a.happen(ctx); err != nil {
		return err
	}
	for _, s := range steps {
		if s.To == nil {
			removeEmpty(s.Made)
		}
	}
	return nil
}

// prepare opens and stages one file.
func (u *undo) prepare(ctx context.Context, a *apply, planned *undoStep) (err error) {
	s, dir := a.step(newWrite(u.files, planned.Path)), filepath.Dir(planned.Path)
	if planned.To == nil {
		s.folder, err = openFolder(dir)
	} else {
		s.folder, s.made, err = makeFolder(dir)
	}
	if err != nil {
		return u.files.fault("opening", dir, err)
	}
	remake(s.made, planned.Removed)
	if err := a.enter(ctx, s); err != nil {
		return err
	}
	before := ""
	if planned.current != nil {
		before = planned.current.SHA256
		if err := s.openSame(ctx, &planned.stat); err != nil {
			return err
		}
	}
	if planned.To == nil {
		s.change.Removed = slices.Clone(planned.Made)
		slices.Reverse(s.change.Removed)
	} else if err := u.stage(ctx, s, planned.Step); err != nil {
		return u.files.fault("writing", planned.Path, err)
	}
	return s.describe(before)
}

func (s *applyStep) openSame(ctx context.Context, before *unix.Stat_t) error {
	if err := s.openExpected(ctx); err != nil {
		return err
	}
	if !sameFile(before, &s.found) {
		return s.stale("it changed meanwhile")
	}
	return nil
}

// stage writes what the file held under a passing name.
func (u *undo) stage(ctx context.Context, s *applyStep, planned backup.Step) (err error) {
	if s.temp, err = newTemporary(s.folder, 0o600); err != nil {
		return err
	}
	s.sha256 = planned.To.SHA256
	if err := u.past.Copy(ctx, s.temp, planned); err != nil {
		return err
	}
	if err := s.temp.become(planned.To); err != nil {
		return err
	}
	return s.temp.Sync()
}

// become takes on owner, mode and attributes. Set-id bits come back only where the owner
// does.
func (t *temporary) become(s *backup.State) error {
	var have unix.Stat_t
	if err := unix.Fstat(int(t.Fd()), &have); err != nil {
		return err
	}
	mode := s.Mode
	if s.UID != have.Uid || s.GID != have.Gid {
		if err := unix.Fchown(int(t.Fd()), int(s.UID), int(s.GID)); err != nil {
			if os.Geteuid() == 0 {
				return err
			}
			mode &= 0o777
		}
	}
	if err := unix.Fchmod(int(t.Fd()), mode); err != nil {
		return err
	}
	setAttributes(t.File, s.Attributes)
	return nil
}

// removeEmpty removes folders, innermost first, as far as nothing is in them.
func removeEmpty(folders []backup.Folder) {
	for _, f := range folders {
		if folder, err := openFolder(string(f.Path)); err == nil {
			sweep(folder)
			_ = folder.Close()
		}
		unmake([]string{string(f.Path)})
		if parent, err := openFolder(filepath.Dir(string(f.Path))); err == nil {
			_ = syncFolder(parent)
			_ = parent.Close()
		}
	}
}

// remake gives folders that were made again the modes that they had.
func remake(made []string, removed []backup.Folder) {
	for _, path := range made {
		for _, was := range removed {
			if string(was.Path) != path {
				continue
			}
			if folder, err := openFolder(path); err == nil {
				_ = unix.Fchmod(int(folder.Fd()), was.Mode)
				_ = folder.Close()
			}
		}
	}
}
