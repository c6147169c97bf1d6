package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/permission"
)

// prepareStep opens, checks and stages one file.
func (a *apply) prepareStep(ctx context.Context, s *applyStep, c FileChange) (err error) {
	if s.folder, s.made, err = s.openFolder(); err != nil {
		return err
	}
	if err := a.enter(ctx, s); err != nil {
		return err
	}
	if s.expect == "" {
		err = s.free()
	} else {
		err = s.openExpected(ctx)
	}
	if err == nil && !c.Delete {
		err = s.stageChange(c)
	}
	if err != nil {
		return err
	}
	return s.describe(s.expect)
}

func (s *applyStep) openFolder() (*os.File, []string, error) {
	if s.expect == "" {
		return s.files.writeFolder(s.target, WriteOptions{Parents: true})
	}
	folder, err := openFolder(filepath.Dir(s.target))
	if errors.Is(err, unix.ENOENT) {
		return nil, nil, s.stale("it is gone")
	}
	if err != nil {
		return nil, nil, s.files.fault("opening", filepath.Dir(s.target), err)
	}
	return folder, nil, nil
}

// free fails where a new file would not be new.
func (s *applyStep) free() error {
	var st unix.Stat_t
	switch err := unix.Fstatat(int(s.folder.Fd()), s.name, &st, unix.AT_SYMLINK_NOFOLLOW); err {
	case unix.ENOENT:
		return nil
	case nil:
		return fault.New(fault.Conflict, "exists", "%s is to be a new file, and it is there already", s.files.show(s.target)).
			WithHint("read it, and change what it holds")
	default:
		return s.files.fault("looking at", s.target, err)
	}
}

// openExpected opens what is to be replaced or deleted, and checks that it is that. Nobody
// else takes what is left of it for a leftover while its lock is held.
func (s *applyStep) openExpected(ctx context.Context) (err error) {
	if s.old, err = s.openOld(); err != nil {
		return err
	}
	_ = unix.Flock(int(s.old.Fd()), unix.LOCK_EX|unix.LOCK_NB) // another's lock serves as well
	if err := unix.Fstat(int(s.old.Fd()), &s.found); err != nil {
		return s.files.fault("looking at", s.target, err)
	}
	return s.checkExpected(ctx, s.old)
}

func (s *applyStep) stageChange(c FileChange) error {
	like := s.old
	if like == nil && c.Like != "" {
		e, err := s.files.decided(permission.Read, c.Like)
		if err != nil {
			return err
		}
		if like, err = s.files.openAgain(e.Target); err != nil {
			return err
		}
		defer like.Close()
	}
	return s.stage(c.Content, like, c.Executable)
}

// stage writes the new content under a passing name. It takes mode, owner and attributes
// of like, nil for none.
func (s *applyStep) stage(content []byte, like *os.File, executable Executable) (err error) {
	sum := sha256.Sum256(content)
	s.sha256 = hex.EncodeToString(sum[:])
	mode := uint32(0o666) // less the umask
	switch {
	case like != nil:
		mode = 0o600 // until it has that of the other
	case executable == IsExecutable:
		mode = 0o777
	}
	if s.temp, err = newTemporary(s.folder, mode); err == nil {
		err = s.temp.fill(content, like, executable)
	}
	if err != nil {
		return s.files.fault("writing", s.target, err)
	}
	return nil
}

// execute sets who may execute the file, as git does: all who may read it, or nobody.
func (t *temporary) execute(e Executable) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(t.Fd()), &st); err != nil || e == AsItWas {
		return err
	}
	mode := modeOf(&st) &^ 0o111
	if e == IsExecutable {
		mode |= mode & 0o444 >> 2
	}
	return unix.Fchmod(int(t.Fd()), mode)
}

// describe is for the journal. before is the digest of what is replaced or deleted.
func (s *applyStep) describe(before string) (err error) {
	s.change.Path, s.change.Made = backup.Path(s.target), foldersAt(s.made)
	if s.temp != nil {
		if s.change.After, err = s.state(s.temp.File, s.sha256); err != nil {
			return err
		}
	}
	if s.old != nil {
		s.change.Before, err = s.state(s.old, before)
	}
	return err
}
