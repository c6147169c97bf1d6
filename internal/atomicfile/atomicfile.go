// Package atomicfile replaces files so that a crash leaves the old or the new one.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const tempPrefix = ".tmp-"

// Write replaces path with data: temporary file in the same folder, fsync, rename,
// fsync of the folder. Missing parents are created with mode 0700. What writers that were
// killed left in the folder an hour ago or earlier goes.
func Write(path string, data []byte, mode os.FileMode) error {
	_ = RemoveStale(filepath.Dir(path), time.Hour) // one that stays is in nobody's way
	return WriteFrom(path, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteFrom is Write for content that is produced piece by piece, in folders of any size:
// it does not look for what others left. When fill fails nothing is left behind and path is
// as it was. A writer that is killed leaves its temporary file, see RemoveStale.
func WriteFrom(path string, mode os.FileMode, fill func(io.Writer) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	f, err := os.CreateTemp(dir, tempPrefix+"*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_ = flock(f) // only RemoveStale looks at it, and it needs the same kind of lock
	if err := replace(path, f, mode, fill); err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", path, err), f.Close(), os.Remove(f.Name()))
	}
	_ = f.Close() // synced and renamed: the file is whole
	if err := SyncDir(dir); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func replace(path string, f *os.File, mode os.FileMode, fill func(io.Writer) error) error {
	if err := fill(f); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// SyncDir makes renames and removals inside dir durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func flock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
