package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/stoppable"
)

// maxChanges bounds the records of one run: as many as a capability can make calls.
const maxChanges = 100_000

// ErrChanged is the error for content that is not, or no longer, what its state says.
var ErrChanged = errors.New("the content changed while it was backed up")

// Journal is the file of a run under way. It is safe for concurrent use.
type Journal struct {
	store *Store
	run   Run

	mu        sync.Mutex
	file      *os.File // nil once it is closed
	size      int64
	changes   int
	live      int   // changes that were not withdrawn
	unchecked int64 // bytes added since the store's limit was looked at
	partial   bool  // there may be changes without a record
	holds     bool  // the content of a file, whose loss would be one
	synced    bool  // the name of the file is on the disk
	broken    error // why nothing can be added any more

	staged  *os.File // see Staging; nil where nothing was
	folders map[string]bool
}

// Begin makes the file of a run, which must not have one. Close ends it.
func (s *Store) Begin(ctx context.Context, run Run) (*Journal, error) {
	if !runFile.MatchString(run.ID + runEnding) {
		return nil, fault.New(fault.Internal, "bug", "%.64q is no id of a run", run.ID)
	}
	line, err := frame{SchemaVersion: schemaVersion, Run: &run}.encode()
	if err != nil {
		return nil, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	f, err := os.OpenFile(s.path(run.ID), os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	j := &Journal{store: s, run: run, file: f}
	if rand.N(checkOneIn) == 0 {
		j.unchecked = s.limit
	}
	_, err = lockFile(f, unix.LOCK_EX)
	if err == nil {
		err = j.append(ctx, line, nil, nil)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return j, nil
}

// checkOneIn is how many runs with little to keep share one look at the size of the
// store, which takes some microseconds for each run that it holds.
const checkOneIn = 16

// Add records a change that is about to happen, with the content that it replaces, nil
// where Before is. It may happen once Sync has returned. The number that it returns
// withdraws the change. Content that is not as Before says is ErrChanged.
func (j *Journal) Add(ctx context.Context, c Change, content io.Reader) (int, error) {
	f := frame{Change: &c}
	line, err := f.encode()
	if err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.room(ctx, int64(len(line))+f.contentSize()); err != nil {
		return 0, err
	}
	if err := j.append(ctx, line, c.Before, content); err != nil {
		return 0, err
	}
	j.holds = j.holds || c.Before != nil
	j.changes++
	j.live++
	return j.changes - 1, nil
}

// room fails when there is none for n bytes more.
func (j *Journal) room(ctx context.Context, n int64) error {
	if err := j.unusable(); err != nil {
		return err
	}
	switch {
	case j.changes >= maxChanges:
		return fault.New(fault.ResourceExhausted, "backup_records", "the call has changed files %d times, the limit", maxChanges)
	case j.size+n > j.store.limit:
		return j.store.full(n)
	}
	if j.unchecked += n; j.unchecked <= j.store.limit/64 {
		return nil
	}
	j.unchecked = 0
	return j.store.makeRoom(ctx, n)
}

// unusable is why nothing can be added any more.
func (j *Journal) unusable() error {
	if j.file == nil {
		return fault.New(fault.Cancelled, "call_ended", "the call has ended: it changes nothing any more")
	}
	return j.broken
}

// append writes at the end of the file, or leaves it as it was.
func (j *Journal) append(ctx context.Context, line []byte, before *State, content io.Reader) error {
	if j.broken != nil {
		return j.broken
	}
	end := j.size + int64(len(line))
	_, err := j.file.WriteAt(line, j.size)
	if err == nil && before != nil {
		err = j.copy(ctx, end, before, content)
		end += before.Size
	}
	if err != nil {
		j.broken = j.file.Truncate(j.size) // what is left then reads as damaged
		return err
	}
	j.size = end
	return nil
}

func (j *Journal) copy(ctx context.Context, at int64, before *State, content io.Reader) error {
	hash := sha256.New()
	to := io.MultiWriter(io.NewOffsetWriter(j.file, at), hash)
	n, err := io.Copy(to, io.LimitReader(stoppable.Reader(ctx, content), before.Size+1))
	if err != nil {
		return err
	}
	if n != before.Size || hex.EncodeToString(hash.Sum(nil)) != before.SHA256 {
		return ErrChanged
	}
	return nil
}

// Sync has all that was added on the disk. The name of the file matters once it holds
// content: a file that was new can be lost to nobody. After an error nothing can be added
// any more.
func (j *Journal) Sync() (err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.unusable(); err != nil {
		return err
	}
	if err = j.store.syncFile(j.file); err == nil && j.holds && !j.synced {
		err = atomicfile.SyncDir(j.store.dir)
		j.synced = err == nil
	}
	j.broken = err
	return err
}

// Withdraw takes back the record of a change that did not happen.
func (j *Journal) Withdraw(number int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.live--
	return j.note(frame{Withdrawn: &number})
}

// Settle says how a pending change left the file, nil for gone.
func (j *Journal) Settle(number int, after *State) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.note(frame{Settled: &settled{Change: number, After: after}})
}

// Partial says that the run may change more than it has records of, which nothing brings
// back.
func (j *Journal) Partial() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.partial {
		return nil
	}
	j.partial = true
	return j.note(frame{Partial: true})
}

// Otherwise says that the run changed what an undo does not take back, and how a person does
// that. Until it is named, no older run is the last one.
func (j *Journal) Otherwise(how string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.partial = true
	return j.note(frame{Partial: true, Otherwise: how})
}

// Done says that the run has undone all that it was to undo.
func (j *Journal) Done() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.note(frame{Done: true})
}

// note adds what is no loss when it is lost.
func (j *Journal) note(f frame) error {
	line, err := f.encode()
	if err == nil && j.file != nil {
		err = j.append(context.Background(), line, nil, nil)
	}
	return err
}

// Close ends the run. A file that says nothing is removed.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	j.endStaging()
	var err error
	if j.live == 0 && j.run.Undoes == "" && !j.partial {
		err = os.Remove(j.file.Name())
	}
	err = errors.Join(err, j.file.Close())
	j.file = nil
	return err
}
