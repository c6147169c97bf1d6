package runtime

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/event"
)

// apply puts back what has to be. When that ends in between, the same call goes on: what
// is done by then has nothing more to do.
func (u *undo) apply(ctx context.Context) (Undone, error) {
	journal, err := u.files.registry.journal(ctx, u.files.run, u.past.ID)
	if err != nil {
		return Undone{}, err
	}
	done := Undone{RunID: u.past.ID, Tool: u.past.Tool}
	for i := range u.steps {
		change, err := u.putBack(ctx, &u.steps[i])
		if err != nil {
			return done, fmt.Errorf("undoing run %s, with %d of %d files done: %w", u.past.ID, i, len(u.steps), err)
		}
		done.Files = append(done.Files, UndoneFile{Path: u.files.show(u.steps[i].Path), Change: change})
	}
	if err := journal.Done(); err != nil {
		return done, err
	}
	return done, u.files.registry.append(context.WithoutCancel(ctx), u.files.run, event.BackupRestored, map[string]any{
		"undone_run_id": u.past.ID, "undone_tool": text.Head(u.past.Tool, 128), "files": len(done.Files),
	})
}

func (u *undo) putBack(ctx context.Context, s *undoStep) (change string, err error) {
	if err := ctx.Err(); err != nil {
		return "", context.Cause(ctx)
	}
	switch {
	case s.To != nil && s.standing == backup.Undoable:
		return "restored", u.restore(ctx, s)
	case s.To != nil:
		return "unchanged", nil
	case s.standing == backup.Undoable:
		change, err = "removed", u.remove(ctx, s)
	default:
		change = "unchanged"
	}
	if err == nil {
		removeEmpty(s.Made)
	}
	return change, err
}

// restore gives a file the content, mode, owner and attributes that it had.
func (u *undo) restore(ctx context.Context, s *undoStep) (err error) {
	folder, made, err := makeFolder(filepath.Dir(s.Path))
	defer func() {
		if err != nil {
			unmake(made)
		}
	}()
	if err != nil {
		return u.files.fault("making folder", filepath.Dir(s.Path), err)
	}
	defer folder.Close()
	remake(made, s.Removed)
	w := u.write(folder, s)
	sweep(folder)
	temp, err := u.stage(ctx, folder, s)
	if err != nil {
		return err
	}
	defer temp.drop()
	after, err := w.state(temp.File, s.To.SHA256)
	if err != nil {
		return err
	}
	if err := u.keep(ctx, w, s, after, made); err != nil {
		return err
	}
	if s.current == nil {
		return w.publish(temp, renameNew(folder, temp.name, w.name))
	}
	if err := w.unchanged(&s.stat); err != nil {
		return w.withdrawn(err)
	}
	dir := int(folder.Fd())
	return w.publish(temp, unix.Renameat(dir, temp.name, dir, w.name))
}

func (u *undo) stage(ctx context.Context, folder *os.File, s *undoStep) (*temporary, error) {
	if err := u.files.staging(ctx, u.past.ID, filepath.Dir(s.Path)); err != nil {
		return nil, err
	}
	temp, err := newTemporary(folder, 0o600)
	if err != nil {
		return nil, u.files.fault("writing", s.Path, err)
	}
	err = u.past.Copy(ctx, temp, s.Step)
	if err == nil {
		err = temp.become(s.To)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err != nil {
		temp.drop()
		return nil, u.files.fault("writing", s.Path, err)
	}
	return temp, nil
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

// keep has a step on the disk before it happens, with what it replaces.
func (u *undo) keep(ctx context.Context, w *write, s *undoStep, after *backup.State, made []string) error {
	change := backup.Change{Path: backup.Path(s.Path), Before: s.current, After: after, Made: foldersAt(made)}
	if after == nil {
		for i := len(s.Made) - 1; i >= 0; i-- {
			change.Removed = append(change.Removed, s.Made[i])
		}
	}
	if s.current == nil {
		return w.keep(ctx, u.past.ID, change, nil)
	}
	old, err := w.openOld()
	if err != nil {
		return err
	}
	defer old.Close()
	return w.keep(ctx, u.past.ID, change, old)
}

// remove takes away a file that the run had made.
func (u *undo) remove(ctx context.Context, s *undoStep) error {
	folder, err := openFolder(filepath.Dir(s.Path))
	if err != nil {
		return u.files.fault("opening", filepath.Dir(s.Path), err)
	}
	defer folder.Close()
	sweep(folder)
	w := u.write(folder, s)
	if err := u.keep(ctx, w, s, nil, nil); err != nil {
		return err
	}
	if err := w.unchanged(&s.stat); err != nil {
		return w.withdrawn(err)
	}
	if err := unix.Unlinkat(int(folder.Fd()), w.name, 0); err != nil {
		return w.withdrawn(u.files.fault("removing", s.Path, err))
	}
	if err := syncFolder(folder); err != nil {
		return u.files.fault("syncing", filepath.Dir(s.Path), err)
	}
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
