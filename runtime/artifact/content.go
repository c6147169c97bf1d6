package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/stoppable"
	"github.com/aircoding/air/runtime/event"
)

// write puts the content at the record's path, durably, and fills in size and digest.
func (s *Store) write(ctx context.Context, r *Record, content io.Reader) error {
	hash := sha256.New()
	err := atomicfile.WriteFrom(r.Path, 0o600, func(w io.Writer) (err error) {
		r.Size, err = io.Copy(io.MultiWriter(w, hash), io.LimitReader(stoppable.Reader(ctx, content), s.limit+1))
		if err == nil && r.Size > s.limit {
			return fault.New(fault.ResourceExhausted, "artifact_size", "the content is larger than %d bytes", s.limit).
				WithHint("split it into several artifacts")
		}
		return err
	})
	r.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return event.Storage(err, "storing artifact %s", r.ID)
}

// removeStrays does its best: a file that cannot be removed harms nobody.
func (s *Store) removeStrays() error {
	types, err := os.ReadDir(s.dir)
	for _, e := range types {
		if e.IsDir() {
			_ = atomicfile.RemoveStale(filepath.Join(s.dir, e.Name()), time.Minute)
		}
	}
	return err
}

// Open opens the file of a record that Get, List or Create returned. A file that is
// gone, or that has another size than was recorded, is an error of kind integrity.
func (s *Store) Open(r Record) (Content, error) {
	f, err := s.open(r)
	if err != nil {
		return nil, fault.New(fault.Integrity, "artifact_damaged", "artifact %s is not what was stored: %w", r.ID, err).
			WithHint("the file was changed or removed outside of air: make the artifact again")
	}
	return f, nil
}

func (s *Store) open(r Record) (*os.File, error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(r.file) // not Path, which a caller can set
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", r.file)
	case info.Size() != r.Size:
		return nil, fmt.Errorf("%s has %d bytes, %d were stored", r.file, info.Size(), r.Size)
	}
	return root.Open(r.file)
}
