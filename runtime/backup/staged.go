package backup

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/internal/lazyregexp"
)

// A run that puts temporary files into folders names these folders first, in a file that
// goes when the run ends and is locked until then. One that nobody has locked is that of a
// process that was killed: what it left is swept at the next start.
const stagedEnding = ".staged"

var stagedFile = lazyregexp.New(`^` + ids.Pattern + `\` + stagedEnding + `$`)

// maxStaged bounds what is read of such a file, in bytes.
const maxStaged = 1 << 20

func (s *Store) stagedDir() string { return filepath.Join(s.dir, "staged") }

// Staging notes that temporary files of the run may be in a folder, from now until it ends.
func (j *Journal) Staging(folder string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil || j.folders[folder] {
		return nil // a run that has ended stages nothing
	}
	line, err := json.Marshal(Path(folder))
	if err != nil {
		return err
	}
	if j.staged == nil {
		if j.staged, err = j.store.openStaged(j.run.ID); err != nil {
			return err
		}
		j.folders = map[string]bool{}
	}
	if _, err := j.staged.Write(append(line, '\n')); err != nil {
		return err
	}
	j.folders[folder] = true
	return nil
}

// openStaged makes the file, again where another process took it for that of a dead one
// before it was locked.
func (s *Store) openStaged(id string) (*os.File, error) {
	if err := os.MkdirAll(s.stagedDir(), 0o700); err != nil {
		return nil, err
	}
	for {
		f, err := os.OpenFile(filepath.Join(s.stagedDir(), id+stagedEnding), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		busy, err := lockFile(f, unix.LOCK_EX|unix.LOCK_NB)
		var st unix.Stat_t
		if err = errors.Join(err, unix.Fstat(int(f.Fd()), &st)); err == nil && !busy && st.Nlink > 0 {
			return f, nil
		}
		_ = f.Close()
		if err != nil {
			return nil, err
		}
	}
}

// endStaging says that no temporary file is left.
func (j *Journal) endStaging() {
	if j.staged != nil {
		_ = os.Remove(j.staged.Name())
		_ = j.staged.Close()
		j.staged = nil
	}
}

// Leftovers visits the folders in which processes that are gone may have left temporary
// files. It is only tidying: what it cannot read is left.
func (s *Store) Leftovers(visit func(folder string)) {
	entries, err := os.ReadDir(s.stagedDir())
	if err != nil {
		return
	}
	for _, e := range entries {
		if stagedFile.MatchString(e.Name()) {
			s.leftover(filepath.Join(s.stagedDir(), e.Name()), visit)
		}
	}
}

func (s *Store) leftover(path string, visit func(folder string)) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return
	}
	if busy, err := lockFile(f, unix.LOCK_EX|unix.LOCK_NB); busy || err != nil {
		return
	}
	lines := bufio.NewScanner(io.LimitReader(f, maxStaged))
	for lines.Scan() {
		var folder Path
		if json.Unmarshal(lines.Bytes(), &folder) == nil {
			visit(string(folder))
		}
	}
	_ = os.Remove(path)
}
