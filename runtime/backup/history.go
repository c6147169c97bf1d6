package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/stoppable"
)

// Past is a run as it was recorded.
type Past struct {
	Run
	Changes []Change // that were not withdrawn, in order
	Done    bool     // of a run that undoes another: it got to its end
	Partial bool     // a command of the run may have changed more than there are records of
	// Otherwise is how to go back from what the run changed without a record, "" for nothing.
	Otherwise string
	// UnderWay is true while the run's process may still add changes.
	UnderWay bool
	UndoneBy string // the run that took the changes back, "" when they stand

	store *Store
	file  *os.File
	// alsoMade are the folders of changes that were withdrawn: another change of the run
	// may have kept them in use.
	alsoMade []Folder
}

// Close ends the reading of the run's content.
func (p *Past) Close() { _ = p.file.Close() } // it was only read

// Find returns the run with an id, or with the beginning of one. While it is open, its
// file stays.
func (s *Store) Find(prefix string) (*Past, error) {
	id, err := s.find(prefix)
	if err != nil {
		return nil, s.explain(err, prefix)
	}
	undone, err := s.undoneAfter(id)
	if err != nil {
		return nil, err
	}
	p, err := s.load(id)
	if err == nil {
		p.UndoneBy = undone[id]
	}
	return p, err
}

// explain adds to the error for an unknown run which run it is a part of.
func (s *Store) explain(err error, id string) error {
	var unknown *fault.Error
	if !errors.As(err, &unknown) || unknown.Code != codeUnknownRun {
		return err
	}
	_ = s.each(func(p *Past) bool { // a damaged run does not make the error another one
		if p.names(id) {
			unknown = unknown.WithHint("it was nested in run %s, which is undone as a whole: air undo %s", p.ID, p.ID)
		}
		return false
	})
	return unknown
}

// names reports whether one of the changes was made by the nested call with an id.
func (p *Past) names(callID string) bool {
	return slices.ContainsFunc(p.Changes, func(c Change) bool { return c.CallID == callID })
}

// undoneAfter tells which runs were undone by newer ones than id. What is damaged among
// those does not count: it is the state of the files that decides.
func (s *Store) undoneAfter(id string) (map[string]string, error) {
	undone := map[string]string{}
	all, err := s.ids()
	for _, newer := range all {
		if newer <= id {
			break
		}
		if p, err := s.load(newer); err == nil {
			p.mark(undone)
			p.Close()
		}
	}
	return undone, err
}

// mark notes what the run has undone, unless it was undone itself. Newer runs come first.
func (p *Past) mark(undone map[string]string) {
	p.UndoneBy = undone[p.ID]
	if p.Undoes != "" && p.Done && p.UndoneBy == "" {
		undone[p.Undoes] = p.ID
	}
}

// Last returns the newest run of a session that stands and that undoes no other. It may be
// one that has changes, or one that was under way, or one to be gone back from otherwise.
func (s *Store) Last(sessionID string) (*Past, error) {
	var last *Past
	err := s.each(func(p *Past) bool {
		if p.SessionID != sessionID || p.Undoes != "" || p.UndoneBy != "" || len(p.Changes) == 0 && !p.UnderWay && p.Otherwise == "" {
			return false
		}
		last = p
		return true
	})
	if err == nil && last == nil {
		err = fault.New(fault.NotFound, "nothing_to_undo", "no call of this session changed a file that was not undone since").
			WithHint("air undo --list shows the runs of the whole project")
	}
	return last, err
}

// ToUndo returns a run that can be undone: the one with an id, or with the beginning of
// one; with "" the last one of the session that stands.
func (s *Store) ToUndo(sessionID, prefix string) (*Past, error) {
	var p *Past
	var err error
	if prefix == "" {
		p, err = s.Last(sessionID)
	} else {
		p, err = s.Find(prefix)
	}
	if err != nil {
		return nil, err
	}
	if err := p.stands(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Past) stands() error {
	switch {
	case p.UnderWay:
		return fault.New(fault.Conflict, "run_under_way", "run %s (%s) is still under way", p.ID, p.Tool).WithHint("wait for it to end, or name another run")
	case p.UndoneBy != "":
		return fault.New(fault.Conflict, "already_undone", "run %s (%s) was undone by run %s", p.ID, p.Tool, p.UndoneBy).
			WithHint("air undo %s brings its changes back", p.UndoneBy)
	case len(p.Changes) == 0 && p.Otherwise != "":
		return fault.New(fault.Conflict, "not_undoable", "the last call that changed something is run %s (%s), and air undo does not take that back", p.ID, p.Tool).
			WithHint("%s; air undo RUN takes back another run (air undo --list)", p.Otherwise)
	case len(p.Changes) == 0 && p.Partial:
		return fault.New(fault.NotFound, "nothing_kept", "run %s (%s) ran a command that may have changed files, and none of them was kept", p.ID, p.Tool).
			WithHint("only files that a command names to change are kept before it; a version control brings back the others")
	case len(p.Changes) == 0:
		return fault.New(fault.NotFound, "nothing_to_undo", "run %s changed no file", p.ID)
	}
	return nil
}

// Summary describes a run in a list.
type Summary struct {
	Run
	Files    int       `json:"files"`
	Partial  bool      `json:"partial,omitempty"` // it may have changed more
	First    []Outcome `json:"first_files"`       // at most 20 of them
	UndoneBy string    `json:"undone_by,omitempty"`
	UnderWay bool      `json:"under_way,omitempty"`
}

// Outcome is what undoing a run would make of a file.
type Outcome struct {
	Path string `json:"path"`
	Undo string `json:"undo"` // restore or remove
}

const maxOutcomes = 20

func outcomes(steps []Step) []Outcome {
	first := []Outcome{}
	for _, s := range steps[:min(len(steps), maxOutcomes)] {
		undo := "restore"
		if s.To == nil {
			undo = "remove"
		}
		first = append(first, Outcome{s.Path, undo})
	}
	return first
}

// List describes all runs, newest first. It ends at a damaged one.
func (s *Store) List() ([]Summary, error) {
	list := []Summary{}
	err := s.each(func(p *Past) bool {
		steps := p.Steps()
		list = append(list, Summary{Run: p.Run, Files: len(steps), Partial: p.Partial, First: outcomes(steps), UndoneBy: p.UndoneBy, UnderWay: p.UnderWay})
		return false
	})
	return list, err
}

// each visits the runs, newest first, until visit wants to keep one.
func (s *Store) each(visit func(*Past) bool) error {
	all, err := s.ids()
	undone := map[string]string{}
	for _, id := range all {
		p, err := s.load(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was dropped just now
		}
		if err != nil {
			return err
		}
		p.mark(undone)
		if visit(p) {
			return nil
		}
		p.Close()
	}
	return err
}

// load reads all of a run but the content.
func (s *Store) load(id string) (*Past, error) {
	f, err := s.openRun(id)
	if err != nil {
		return nil, err
	}
	p := &Past{store: s, file: f}
	p.UnderWay, err = lockFile(f, unix.LOCK_SH|unix.LOCK_NB)
	if err == nil {
		err = p.read(id)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

func (p *Past) read(id string) error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	withdrawn, number := map[int]bool{}, 0
	for at, size := int64(0), info.Size(); at < size; {
		f, content, err := readFrame(p.file, at, size)
		if err == errTorn {
			break
		}
		if err != nil {
			return p.store.damaged(id, "%w", err)
		}
		if err := p.adopt(id, f, at); err != nil {
			return err
		}
		switch {
		case f.Change != nil && number >= maxChanges:
			return p.store.damaged(id, "it has more than %d changes", maxChanges)
		case f.Change != nil:
			f.Change.number, f.Change.content = number, content
			p.Changes = append(p.Changes, *f.Change)
			number++
		case f.Withdrawn != nil:
			withdrawn[*f.Withdrawn] = true
		case f.Settled != nil:
			if err := p.settle(f.Settled); err != nil {
				return p.store.damaged(id, "%w", err)
			}
		}
		at = content + f.contentSize()
	}
	p.ID = id // also of one that was killed before it had recorded anything
	p.withdraw(withdrawn)
	return nil
}

// adopt checks a record and takes over what is about the run as a whole.
func (p *Past) adopt(id string, f frame, at int64) error {
	switch {
	case at == 0 && (f.Run == nil || f.SchemaVersion != schemaVersion || f.Run.ID != id):
		return p.store.damaged(id, "it does not begin with the run in a form that this air knows")
	case at == 0:
		p.Run = *f.Run
	case f.Run != nil:
		return p.store.damaged(id, "it has two beginnings")
	}
	p.Done, p.Partial, p.Otherwise = p.Done || f.Done, p.Partial || f.Partial, cmp.Or(p.Otherwise, f.Otherwise)
	return nil
}

// settle fills in how a pending change ended. All changes read so far are there.
func (p *Past) settle(s *settled) error {
	if s.Change < 0 || s.Change >= len(p.Changes) || !p.Changes[s.Change].Pending {
		return fmt.Errorf("it settles change %d, which is not pending", s.Change)
	}
	p.Changes[s.Change].After, p.Changes[s.Change].Pending = s.After, false
	return nil
}

// withdraw takes out the changes that did not happen.
func (p *Past) withdraw(numbers map[int]bool) {
	left := p.Changes[:0]
	for _, c := range p.Changes {
		if numbers[c.number] {
			p.alsoMade = append(p.alsoMade, c.Made...)
		} else {
			left = append(left, c)
		}
	}
	p.Changes = left
}

// Copy writes the content that a step restores, and fails with an error of kind
// integrity when it is not what was stored.
func (p *Past) Copy(ctx context.Context, to io.Writer, s Step) error {
	if s.To == nil {
		return fault.New(fault.Internal, "bug", "there is no content to restore at %.200q", s.Path)
	}
	hash := sha256.New()
	content := io.NewSectionReader(p.file, s.content, s.To.Size)
	n, err := io.Copy(io.MultiWriter(to, hash), stoppable.Reader(ctx, content))
	if err != nil {
		return err
	}
	if n != s.To.Size || hex.EncodeToString(hash.Sum(nil)) != s.To.SHA256 {
		return p.store.damaged(p.ID, "the backup of %.200q has another sha256", s.Path)
	}
	return nil
}
