package runtime

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/permission"
)

// maxApplied bounds how many files change together: each takes two descriptors meanwhile.
const maxApplied = 1000

// FileChange is one file of several that change together. What was decided for its path
// has to be the write, or the delete, that it is.
type FileChange struct {
	Path    string
	Content []byte // all of it; none with Delete
	Delete  bool
	// ExpectSHA256 is the hex digest of what is replaced or deleted; "" for a new file,
	// whose missing parent folders are made.
	ExpectSHA256 string
	Executable   Executable
	// Like is a file whose mode, owner and attributes a new file takes, "" for none; reading
	// it was decided.
	Like string
}

// Executable says what becomes of the right to execute a file.
type Executable int

const (
	AsItWas       Executable = iota // a new file is not
	IsExecutable                    // for all who may read it
	NotExecutable                   // for nobody
)

// Apply changes several files, all of them or none. Everything that can fail comes before
// the first change: all new contents are on the disk under passing names, and the journal
// has what they replace. When a change fails nevertheless, those before it are taken back.
// A process that is killed in between leaves each file as it was or as it was to be, and
// undoing the run takes back those that had changed.
func (f *files) Apply(ctx context.Context, changes []FileChange) (_ []Written, err error) {
	if len(changes) > maxApplied {
		return nil, fault.New(fault.ResourceExhausted, "too_many_files", "%d files are to change together, the limit is %d", len(changes), maxApplied)
	}
	var size int64
	for _, c := range changes {
		size += int64(len(c.Content))
	}
	if err := f.registry.spend(f.run, size); err != nil {
		return nil, err
	}
	a := &apply{files: f}
	defer func() {
		a.close()
		if err != nil {
			f.registry.unspend(f.run, size)
			a.unmake()
		}
	}()
	if err := a.prepare(ctx, changes); err != nil {
		return nil, err
	}
	if err := a.happen(ctx); err != nil {
		return nil, err
	}
	return a.written(), nil
}

// apply is one or several files being changed together.
type apply struct {
	files   *files
	undoes  string // the run that is taken back, "" for none
	entered map[string]bool
	steps   []*applyStep
}

// applyStep is one of them.
type applyStep struct {
	*write
	change backup.Change
	old    *os.File    // that is replaced or deleted; nil for a new file
	found  unix.Stat_t // of old
	temp   *temporary  // nil: the file goes
	aside  string      // the passing name of what was replaced or deleted, until all is done
	done   bool        // it has happened
}

func (a *apply) step(w *write) *applyStep {
	s := &applyStep{write: w}
	a.steps = append(a.steps, s)
	return s
}

// enter readies the folder of a step, once, for files with passing names.
func (a *apply) enter(ctx context.Context, s *applyStep) error {
	dir := filepath.Dir(s.target)
	if a.entered[dir] {
		return nil
	}
	if a.entered == nil {
		a.entered = map[string]bool{}
	}
	a.entered[dir] = true
	sweep(s.folder)
	return a.files.staging(ctx, a.undoes, dir)
}

// happen makes all changes that are ready, or none.
func (a *apply) happen(ctx context.Context) error {
	if err := a.keep(ctx); err != nil {
		return err
	}
	return a.publish(ctx)
}

// close lets go of all that is held, and removes what has no name of its own.
func (a *apply) close() {
	for _, s := range a.steps {
		if s.temp != nil {
			s.temp.drop()
		}
		if s.old != nil {
			_ = s.old.Close()
		}
		if s.folder != nil {
			_ = s.folder.Close()
		}
	}
}

func (a *apply) unmake() {
	for i := len(a.steps) - 1; i >= 0; i-- {
		unmake(a.steps[i].made)
	}
}

// prepare opens, checks and stages everything, and changes nothing.
func (a *apply) prepare(ctx context.Context, changes []FileChange) error {
	seen := map[string]bool{}
	for _, c := range changes {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		target, err := a.files.applied(c)
		if err != nil {
			return err
		}
		if seen[target] {
			return fault.New(fault.InvalidInput, "duplicate_file", "%s would change twice: two paths lead to it", a.files.show(target))
		}
		seen[target] = true
		s := a.step(newWrite(a.files, target))
		s.expect = strings.ToLower(c.ExpectSHA256)
		if err := a.prepareStep(ctx, s, c); err != nil {
			return err
		}
	}
	return nil
}

// applied is the canonical path of a change that was decided.
func (f *files) applied(c FileChange) (target string, err error) {
	kind := permission.Write
	if c.Delete {
		kind = permission.Delete
	}
	e, err := f.decided(kind, c.Path)
	switch {
	case err != nil:
		return "", err
	case strings.HasSuffix(c.Path, "/") || e.Target == "/":
		return "", fault.New(fault.InvalidInput, "is_a_directory", "%s names a folder, a file is wanted", f.show(e.Target))
	case c.Delete && c.ExpectSHA256 == "":
		return "", fault.New(fault.Internal, "bug", "%s is to be deleted, and nobody says what it holds", f.show(e.Target))
	}
	return e.Target, nil
}

// keep has all changes on the disk before the first happens. When one cannot be kept, none
// will happen.
func (a *apply) keep(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			for _, s := range a.steps {
				s.withdraw()
			}
		}
	}()
	var journal *backup.Journal
	for _, s := range a.steps {
		if journal, err = s.add(ctx, a.undoes, s.change, s.old); err != nil {
			return err
		}
	}
	if journal == nil {
		return nil
	}
	if err := journal.Sync(); err != nil {
		return noBackup(a.files.show(a.steps[0].target), err)
	}
	for _, s := range a.steps {
		if err := s.tell(ctx); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (a *apply) written() (all []Written) {
	for _, s := range a.steps {
		all = append(all, Written{Path: a.files.show(s.target), SHA256: s.sha256})
	}
	return all
}
