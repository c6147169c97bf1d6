package backup

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
)

// makeRoom removes runs, the oldest first, until n bytes more are within the limit. It
// leaves those under way, and those that somebody is undoing.
func (s *Store) makeRoom(ctx context.Context, n int64) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := s.ids()
	if err != nil {
		return err
	}
	sizes, total := s.sizes(all)
	total += n
	count := len(all)
	for i := len(all) - 1; i >= 0 && (total > s.limit || count > s.runs); i-- {
		if s.drop(all[i]) {
			total -= sizes[i]
			count--
		}
	}
	if total > s.limit {
		return s.full(n)
	}
	return nil
}

func (s *Store) sizes(all []string) (sizes []int64, total int64) {
	sizes = make([]int64, len(all))
	for i, id := range all {
		if info, err := os.Lstat(s.path(id)); err == nil {
			sizes[i] = info.Size()
			total += sizes[i]
		}
	}
	return sizes, total
}

// drop removes the file of a run, and reports whether it is gone.
func (s *Store) drop(id string) bool {
	f, err := s.openRun(id)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err == nil {
		defer f.Close()
		if busy, err := lockFile(f, unix.LOCK_EX|unix.LOCK_NB); busy || err != nil {
			return false
		}
	}
	return os.Remove(s.path(id)) == nil // also what is no file of ours: a link itself goes
}

func (s *Store) full(n int64) error {
	return fault.New(fault.ResourceExhausted, "backups_full", "keeping %d bytes more would take the backups of the project beyond %d bytes", n, s.limit).
		WithHint("runs under way keep theirs: end one, or write in smaller steps; without a backup nothing is replaced")
}
