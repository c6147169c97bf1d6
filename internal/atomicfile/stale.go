package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// RemoveStale removes the temporary files in dir whose writers were killed, as far as
// nobody has written to them for the given time. One whose writer lives is locked and
// stays; the time covers the moment between creating and locking it, and can be 0 where no
// other process writes. A missing folder has none.
func RemoveStale(dir string, after time.Duration) error {
	return removeStale(dir, tempPrefix, after)
}

// RemoveStaleOf is RemoveStale of one file's writers only, for folders that others use too.
func RemoveStaleOf(path string, after time.Duration) error {
	return removeStale(filepath.Dir(path), prefixOf(path), after)
}

func removeStale(dir, prefix string, after time.Duration) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), prefix) {
			err = errors.Join(err, removeIfStale(filepath.Join(dir, e.Name()), after))
		}
	}
	return err
}

func removeIfStale(path string, after time.Duration) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its writer has just finished
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || time.Since(info.ModTime()) < after || flock(f) != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
