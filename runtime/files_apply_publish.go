package runtime

import (
	"context"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
)

// publish makes all changes, or takes back those that it made. Until all are made, what a
// change replaces stays in its folder under a passing name: putting it back takes neither
// room nor a copy.
func (a *apply) publish(ctx context.Context) error {
	for i, s := range a.steps {
		if err := s.publish(); err != nil {
			return a.takeBack(i, err)
		}
	}
	for i, s := range a.steps {
		if i > 0 && filepath.Dir(s.target) == filepath.Dir(a.steps[i-1].target) {
			continue
		}
		if err := syncFolder(s.folder); err != nil {
			return a.takeBack(len(a.steps), a.files.fault("syncing", filepath.Dir(s.target), err))
		}
	}
	for _, s := range a.steps {
		if err := s.intact(ctx); err != nil {
			return a.takeBack(len(a.steps), err)
		}
	}
	for _, s := range a.steps {
		s.forget()
	}
	return nil
}

// takeBack undoes the first n changes, last first, because of an error. What cannot be
// taken back is for an undo: the journal keeps it.
func (a *apply) takeBack(n int, because error) error {
	var left []string
	for i := n - 1; i >= 0; i-- {
		s := a.steps[i]
		if err := s.takeBack(); err != nil {
			left = append(left, a.files.show(s.target))
			continue
		}
		_ = syncFolder(s.folder) // as after a crash: the file is as it was, or as it was to be
		s.withdraw()
	}
	for _, s := range a.steps[n:] {
		if s.done {
			left = append(left, a.files.show(s.target))
		} else {
			s.withdraw()
		}
	}
	if left == nil {
		return because
	}
	return fault.From(because).With("still_changed", left).
		WithHint("%d files that had changed could not be put back at once, among them %s: air undo does that", len(left), left[0])
}

// publish gives the new content its name, or takes the name away.
func (s *applyStep) publish() (err error) {
	switch {
	case s.old == nil:
		if err = renameNew(s.folder, s.temp.name, s.name); err == nil {
			s.temp.name = ""
		}
	case s.temp == nil:
		err = s.moveAside()
	default:
		err = s.replace()
	}
	if err != nil && !fault.Is(err, fault.Conflict) {
		err = s.files.fault("writing", s.target, err)
	}
	s.done = s.done || err == nil
	return err
}

// moveAside takes a file's name away.
func (s *applyStep) moveAside() error {
	if err := s.unchanged(&s.found); err != nil {
		return err
	}
	aside := temporaryName()
	if err := renameNew(s.folder, s.name, aside); err != nil {
		return err
	}
	s.done, s.aside = true, aside
	return s.isIt(renameNew)
}

// intact fails where somebody wrote to a file while it was put aside, or in the moment
// before: that is in no backup.
func (s *applyStep) intact(ctx context.Context) error {
	if s.old == nil {
		return nil
	}
	sum, err := digest(ctx, s.old)
	if err != nil {
		return s.files.fault("reading", s.target, err)
	}
	if sum != s.before.SHA256 {
		return s.stale("it changed meanwhile")
	}
	return nil
}

// isIt checks that what was put aside is the file that was to be, and puts it back with
// rename otherwise: it came there a moment ago.
func (s *applyStep) isIt(rename func(folder *os.File, from, to string) error) error {
	if s.aside == "" || s.isAt(s.aside, &s.found) {
		return nil
	}
	if err := rename(s.folder, s.aside, s.name); err != nil {
		s.aside = "" // it stays under that name
		return err
	}
	s.done, s.aside = false, ""
	return s.stale("it changed meanwhile")
}

// replace swaps the new content with the old. Where the file system cannot, the old one
// gets a second name first, and where it cannot do that either, none: then it is taken back
// by an undo alone.
func (s *applyStep) replace() error {
	if err := s.unchanged(&s.found); err != nil {
		return err
	}
	aside := s.temp.name
	err := swapNames(s.folder, s.temp.name, s.name)
	if isUnsupported(err) {
		aside, err = s.linkAndRename(temporaryName())
	}
	if err != nil {
		return err
	}
	s.temp.name = ""
	s.done, s.aside = true, aside
	return s.isIt(renameOver)
}

func (s *applyStep) linkAndRename(name string) (aside string, err error) {
	dir := int(s.folder.Fd())
	switch err := unix.Linkat(dir, s.name, dir, name, 0); {
	case err == nil:
		aside = name
	case err != unix.EPERM && !isUnsupported(err):
		return "", err
	}
	if err = renameOver(s.folder, s.temp.name, s.name); err != nil && aside != "" {
		_ = unix.Unlinkat(dir, aside, 0)
	}
	return aside, err
}

func isUnsupported(err error) bool {
	return err == unix.EINVAL || err == unix.ENOSYS || err == unix.EOPNOTSUPP
}

func renameOver(folder *os.File, from, to string) error {
	dir := int(folder.Fd())
	return unix.Renameat(dir, from, dir, to)
}

// isAt reports whether the name in the folder is that of a file seen before.
func (s *applyStep) isAt(name string, file *unix.Stat_t) bool {
	var now unix.Stat_t
	err := unix.Fstatat(int(s.folder.Fd()), name, &now, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && now.Dev == file.Dev && now.Ino == file.Ino
}

// takeBack makes one change undone, unless something else has the name by now.
func (s *applyStep) takeBack() error {
	if s.temp != nil {
		var own unix.Stat_t
		if err := unix.Fstat(int(s.temp.Fd()), &own); err != nil {
			return err
		}
		if !s.isAt(s.name, &own) {
			return os.ErrExist
		}
	}
	switch {
	case s.old == nil:
		return unix.Unlinkat(int(s.folder.Fd()), s.name, 0)
	case s.aside == "":
		return unix.ENOENT
	case s.temp == nil:
		return renameNew(s.folder, s.aside, s.name)
	}
	return renameOver(s.folder, s.aside, s.name)
}

// forget removes what was replaced or deleted. What is left of it the next write in the
// folder removes.
func (s *applyStep) forget() {
	if s.aside != "" {
		_ = unix.Unlinkat(int(s.folder.Fd()), s.aside, 0)
	}
}
