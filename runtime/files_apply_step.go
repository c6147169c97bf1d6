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

// prepare opens, checks and stages one file.
func (s *applyStep) prepare(ctx context.Context) (err error) {
	if s.folder, s.made, err = s.openFolder(); err != nil {
		return err
	}
	sweep(s.folder)
	if err := s.files.staging(ctx, "", filepath.Dir(s.target)); err != nil {
		return err
	}
	if s.expect == "" {
		err = s.free()
	} else {
		err = s.openExpected(ctx)
	}
	if err != nil || s.Delete {
		return err
	}
	sum := sha256.Sum256(s.Content)
	s.sha256 = hex.EncodeToString(sum[:])
	return s.stageContent()
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
	if err := unix.Fstat(int(s.old.Fd()), &s.before); err != nil {
		return s.files.fault("looking at", s.target, err)
	}
	return s.checkExpected(ctx, s.old)
}

// stageContent writes the new content under a passing name.
func (s *applyStep) stageContent() error {
	like, err := s.like()
	if err != nil {
		return err
	}
	if like != nil && like != s.old {
		defer like.Close()
	}
	mode := uint32(0o666) // less the umask
	switch {
	case like != nil:
		mode = 0o600 // until it has that of the other
	case s.Executable == IsExecutable:
		mode = 0o777
	}
	if s.temp, err = newTemporary(s.folder, mode); err != nil {
		return s.files.fault("writing", s.target, err)
	}
	if err := s.fill(like); err != nil {
		return s.files.fault("writing", s.target, err)
	}
	return nil
}

// like is the open file whose mode and attributes the new content takes, nil for none.
func (s *applyStep) like() (*os.File, error) {
	if s.old != nil || s.Like == "" {
		return s.old, nil
	}
	e, err := s.files.decided(permission.Read, s.Like)
	if err != nil {
		return nil, err
	}
	return s.files.openAgain(e.Target)
}

func (s *applyStep) fill(like *os.File) error {
	if _, err := s.temp.Write(s.Content); err != nil {
		return err
	}
	if like != nil {
		if err := s.temp.resemble(like); err != nil {
			return err
		}
		if err := s.temp.execute(s.Executable); err != nil {
			return err
		}
	}
	return s.temp.Sync()
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

// keepChange has the change on the disk before it happens.
func (s *applyStep) keepChange(ctx context.Context) (err error) {
	change := backup.Change{Path: backup.Path(s.target)}
	if !s.Delete {
		if change, err = s.change(s.temp); err != nil {
			return err
		}
	}
	if s.old != nil {
		if change.Before, err = s.state(s.old, s.expect); err != nil {
			return err
		}
	}
	return s.write.keep(ctx, "", change, s.old)
}
