package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleAge covers the moment between creating a temporary file and locking it.
const staleAge = time.Minute

// RemoveStale removes the temporary files in dir whose writers were killed. One whose
// writer lives is locked and stays. A missing folder has none.
func RemoveStale(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), tempPrefix) {
			err = errors.Join(err, removeIfStale(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

func removeIfStale(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its writer has just finished
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || time.Since(info.ModTime()) < staleAge || flock(f) != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
