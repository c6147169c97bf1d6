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

// ErrSpecial is the error for a path where a device, a pipe or a socket is.
var ErrSpecial = errors.New("a device, pipe or socket is there, and is not replaced")

// CheckTarget refuses a path that a person names where something is that is no file: to
// replace a device or a pipe is never meant. In AIR's own folders it is in the way.
func CheckTarget(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return fmt.Errorf("writing %s: %w", path, ErrSpecial)
	}
	return nil
}

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
// as it was. A writer that is killed leaves its temporary
// file, see RemoveStale.
func WriteFrom(path string, mode os.FileMode, fill func(io.Writer) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	f, err := os.CreateTemp(dir, prefixOf(path)+"*")
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

// prefixOf begins the names of a path's temporary files, which are no longer than a name may
// be.
func prefixOf(path string) string {
	base := filepath.Base(path)
	return tempPrefix + base[:min(len(base), 200)] + "-"
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
