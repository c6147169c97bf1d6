package backup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/internal/lazyregexp"
)

const (
	defaultLimit = 1 << 30
	defaultRuns  = 10_000
)

// Options bound a store. Zero means the default.
type Options struct {
	Limit int64 // bytes of all runs, 1 GiB; the oldest runs go first
	Runs  int   // how many, 10,000
	// Sync has what was written to a file on the disk when it returns; os.File.Sync.
	Sync func(*os.File) error
}

// Store keeps the runs of one project. It is safe for use by several processes.
type Store struct {
	dir      string
	limit    int64
	runs     int
	syncFile func(*os.File) error
}

// Open returns the store in a folder, which is made when something is stored.
func Open(dir string, o Options) *Store {
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	if o.Runs <= 0 {
		o.Runs = defaultRuns
	}
	if o.Sync == nil {
		o.Sync = (*os.File).Sync
	}
	return &Store{dir: dir, limit: o.Limit, runs: o.Runs, syncFile: o.Sync}
}

const (
	runEnding      = ".run"
	codeUnknownRun = "unknown_run"
)

var (
	runFile    = lazyregexp.New(`^` + ids.Pattern + `\` + runEnding + `$`)
	prefixForm = lazyregexp.New(`^[0-9a-f-]{1,36}$`)
)

func (s *Store) path(id string) string { return filepath.Join(s.dir, id+runEnding) }

// lock keeps making and removing files of runs apart.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	return home.Lock(ctx, filepath.Join(s.dir, "lock"))
}

// LockUndo is held by whoever undoes a run, from the first look at the files to the end:
// two that undo at once would take each other's writes for foreign ones.
func (s *Store) LockUndo(ctx context.Context) (unlock func(), err error) {
	return home.Lock(ctx, filepath.Join(s.dir, "undo.lock"))
}

// ids are the runs that have a file, newest first.
func (s *Store) ids() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []string
	for _, e := range entries { // sorted by name: a UUIDv7 begins with its time
		if runFile.MatchString(e.Name()) {
			all = append(all, strings.TrimSuffix(e.Name(), runEnding))
		}
	}
	slices.Reverse(all)
	return all, nil
}

// find returns the id of the only run that begins with prefix.
func (s *Store) find(prefix string) (string, error) {
	unknown := fault.New(fault.NotFound, codeUnknownRun, "nothing is kept of a run %.64q", prefix).
		WithHint("air undo --list shows what can be undone; the oldest runs are dropped when their backups need too much room")
	if !prefixForm.MatchString(prefix) {
		return "", unknown
	}
	all, err := s.ids()
	if err != nil {
		return "", err
	}
	found := slices.DeleteFunc(all, func(id string) bool { return !strings.HasPrefix(id, prefix) })
	switch len(found) {
	case 0:
		return "", unknown
	case 1:
		return found[0], nil
	}
	return "", fault.New(fault.InvalidInput, "ambiguous_id", "%d runs begin with %q, among them %s and %s", len(found), prefix, found[0], found[1]).
		WithHint("give more of the id")
}

// openRun opens the file of a run: a regular file and never what a link leads to.
func (s *Store) openRun(id string) (*os.File, error) {
	f, err := os.OpenFile(s.path(id), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, s.damaged(id, "it is a symbolic link")
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = s.damaged(id, "it is no regular file")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (s *Store) damaged(id, format string, args ...any) error {
	args = append([]any{s.path(id)}, args...)
	return fault.New(fault.Integrity, "backup_damaged", "%s is not what was stored: "+format, args...).
		WithHint("the file was changed outside of air, or the disk is failing; without it the run cannot be undone, and removing it lets the others be")
}

// lockFile locks the open file of a run for as long as it is open. how is LOCK_EX, with
// which its run writes it, or LOCK_SH; with LOCK_NB busy is true when somebody else
// holds it.
func lockFile(f *os.File, how int) (busy bool, err error) {
	for {
		switch err := unix.Flock(int(f.Fd()), how); err {
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return true, nil
		default:
			return false, err
		}
	}
}
