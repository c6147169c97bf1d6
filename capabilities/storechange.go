package capabilities

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
)

// Remove deletes one bundle: it is gone as a whole or still there.
func (s *Store) Remove(ctx context.Context, id, digest string) error {
	i, err := s.Get(id, digest)
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return fault.IO("removing "+id, errors.Join(s.forgetLast(i), s.discard(i.Dir)))
}

// discard moves a folder out of sight in one step and deletes it there.
func (s *Store) discard(dir string) error {
	staging, err := s.stage()
	if err != nil {
		return err
	}
	if err := os.Rename(dir, filepath.Join(staging, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(dir + recordEnd); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_ = os.Remove(filepath.Dir(dir)) // the id's own folder, when nothing else is in it
	return os.RemoveAll(filepath.Dir(staging))
}

// lock makes changes to the store wait for each other.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	unlock, err = home.Lock(ctx, filepath.Join(s.dir, lockFile))
	return unlock, fault.IO("locking the install store", err)
}

// stage makes a new folder for what is being placed. The caller has the lock, so that
// whatever lies in staging is left from a process that died.
func (s *Store) stage() (string, error) {
	staging := filepath.Join(s.dir, stagingDir)
	if err := os.RemoveAll(staging); err != nil {
		return "", err
	}
	if err := os.MkdirAll(staging, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(staging, "new-")
}

// writeRecord replaces the record of a bundle in one step. What is written first lies
// in staging, which is there and in which nothing lasts.
func (s *Store) writeRecord(staged string, i Installed) error {
	content, err := json.MarshalIndent(storedRecord{i, i.Signatures}, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(staged+recordEnd, append(content, '\n'), 0o600); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(i.Dir), 0o700); err != nil {
		return err
	}
	return os.Rename(staged+recordEnd, i.Dir+recordEnd)
}
