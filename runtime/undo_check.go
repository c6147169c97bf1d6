package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/permission"
)

// Undone says what undoing a run did.
type Undone struct {
	RunID string // that was undone
	Tool  string // that it called
	Files []UndoneFile
}

// UndoneFile is one file of a run that was undone.
type UndoneFile struct {
	Path   string // as shown
	Change string // restored, removed, or unchanged: it was so already
}

// UndoEffects are those that undoing a run has in a session. What a run of the same
// session has left is known there.
func UndoEffects(past *backup.Past, sessionID string) (effects []permission.Effect) {
	for _, step := range past.Steps() {
		effects = append(effects, permission.Effect{Kind: undoKind(step), Target: step.Path, Known: past.SessionID == sessionID})
	}
	return effects
}

func undoKind(s backup.Step) permission.Kind {
	if s.To == nil {
		return permission.Delete
	}
	return permission.Write
}

// Undo puts the files that a run changed back into the state in which the run found
// them. When one of them is in another state than the run left it in, nothing at all is
// changed. Undoing is recorded as a run of its own.
func (f *files) Undo(ctx context.Context, past *backup.Past) (Undone, error) {
	u := &undo{files: f, past: past}
	if err := u.check(ctx); err != nil {
		return Undone{}, err
	}
	return u.apply(ctx)
}

// undo is one run being undone.
type undo struct {
	files *files
	past  *backup.Past
	steps []undoStep
}

// undoStep is one file being put back, as it was seen when all were checked.
type undoStep struct {
	backup.Step
	standing backup.Standing
	current  *backup.State // nil: there is nothing
	stat     unix.Stat_t
}

// check looks at every file and at every backup, and changes nothing.
func (u *undo) check(ctx context.Context) error {
	var changed []string
	for _, planned := range u.past.Steps() {
		s := undoStep{Step: planned}
		if err := u.see(ctx, &s); err != nil {
			return err
		}
		if s.standing == backup.Changed {
			changed = append(changed, u.files.show(s.Path))
			continue
		}
		if s.standing == backup.Undoable && s.To != nil {
			if err := u.past.Copy(ctx, io.Discard, s.Step); err != nil {
				return err
			}
		}
		u.steps = append(u.steps, s)
	}
	if len(changed) > 0 {
		return u.changedSince(changed)
	}
	return nil
}

// changedPaths bounds how many paths an error names.
const changedPaths = 20

func (u *undo) changedSince(paths []string) error {
	named, more := paths[:min(len(paths), changedPaths)], ""
	if n := len(paths) - len(named); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fault.New(fault.Conflict, "changed_since", "undoing run %s (%s): changed since: %s%s; nothing was undone", u.past.ID, u.past.Tool, strings.Join(named, ", "), more).
		WithHint("undoing would lose what is there now: undo what changed it first, or another run with air undo RUN (air undo --list), or take what you need from the backups (air artifact ls)").
		With("paths", named)
}

// see looks where a file stands. What has become a link, a folder or anything else has
// changed.
func (u *undo) see(ctx context.Context, s *undoStep) error {
	decided, err := u.files.decided(undoKind(s.Step), s.Path)
	if err != nil {
		return err
	}
	if decided.Target != s.Path {
		return nil // it leads through a link now
	}
	folder, err := openFolder(filepath.Dir(s.Path))
	switch {
	case errors.Is(err, unix.ENOENT):
		s.standing = s.Judge(nil)
		return nil
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		return nil
	case err != nil:
		return u.files.fault("opening", filepath.Dir(s.Path), err)
	}
	defer folder.Close()
	return u.seeIn(ctx, folder, s)
}

func (u *undo) seeIn(ctx context.Context, folder *os.File, s *undoStep) error {
	err := unix.Fstatat(int(folder.Fd()), filepath.Base(s.Path), &s.stat, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case errors.Is(err, unix.ENOENT):
		s.standing = s.Judge(nil)
		return nil
	case err != nil:
		return u.files.fault("looking at", s.Path, err)
	case nodeType(&s.stat) != "file":
		return nil
	}
	w := newWrite(u.files, s.Path)
	w.folder = folder
	old, err := w.openOld()
	if err != nil {
		return err
	}
	defer old.Close()
	sum, err := digest(ctx, old)
	if err != nil {
		return u.files.fault("reading", s.Path, err)
	}
	if s.current, err = w.state(old, sum); err != nil {
		return err
	}
	s.standing = s.Judge(s.current)
	return nil
}
