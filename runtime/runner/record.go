package runner

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/runtime/permission"
)

// maxRecord is the size of a record that is read, in bytes.
const maxRecord = 8 << 20

// record is on disk what a run began with and what was decided for it. It is there from
// before the run's start until all is settled that it made, and longer where another run of
// the project overlapped with it: none takes away what was decided for another.
type record struct {
	id string // by its file's name

	PID     int    `json:"pid"`     // of air
	Started uint64 `json:"started"` // in the kernel's ticks since it booted
	Machine string `json:"machine"`

	Began time.Time `json:"began"`
	Ended time.Time `json:"ended,omitzero"`
	// Failed marks one that could not be settled, Stuck names what is in the way of that.
	Failed bool     `json:"failed,omitempty"`
	Stuck  []string `json:"stuck,omitempty"`

	Decided  []permission.Effect `json:"decided,omitempty"`  // on paths, that change something
	Makes    bool                `json:"makes,omitempty"`    // repositories
	Accepted []string            `json:"accepted,omitempty"` // that git made
	Trees    []tree              `json:"trees,omitempty"`
}

// tree is a folder as a run found it, in paths relative to it.
type tree struct {
	Root         string              `json:"root"`
	Made         bool                `json:"made,omitempty"`
	Seen         []string            `json:"seen,omitempty"`
	Aliases      map[string]string   `json:"aliases,omitempty"`
	Repositories map[string][]string `json:"repositories,omitempty"`
}

// records is the folder of the records.
func (r *Runner) records() (string, error) {
	state, err := r.state()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(state, "unsettled")
	return dir, os.MkdirAll(dir, 0o700)
}

// begin records a run that may change something. Not durably: after a crash of the machine
// its record may be gone, as what it made may.
func (r *Runner) begin(v *view, id string) error {
	trees := v.trees()
	if len(trees) == 0 && len(v.decided.special) == 0 {
		return nil
	}
	dir, err := r.records()
	if err != nil {
		return unready(r.config.Root, err)
	}
	self, err := readProcess(os.Getpid())
	if err != nil {
		return unready(r.config.Root, err)
	}
	v.dir, v.record = dir, &record{
		id: filepath.Base(id), PID: os.Getpid(), Started: self.started, Machine: machine(), Began: time.Now(),
		Decided: v.decided.changes(), Makes: v.decided.makesRepository(), Trees: trees,
	}
	if err := v.record.write(dir); err != nil {
		return unready(r.config.Root, err)
	}
	return nil
}

// write replaces the record by a rename: another air may read it.
func (c *record) write(dir string) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, c.id)
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file+".json")
}

func (c *record) remove(dir string) { _ = os.Remove(filepath.Join(dir, c.id+".json")) }

// allRecords reads what is in the folder. What cannot be read is an error: something may have
// to be settled.
func allRecords(dir string) (all []*record, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), ".json")
		if !ok {
			continue
		}
		c := &record{id: id}
		text, err := regular.Read(filepath.Join(dir, entry.Name()), maxRecord, false)
		if errors.Is(err, fs.ErrNotExist) {
			continue // settled meanwhile
		}
		if err == nil {
			err = json.Unmarshal(text, c)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// runs reports whether a run goes on. One in another container of this machine may.
func (c *record) runs() bool {
	if !c.Ended.IsZero() || bootOf(c.Machine) != bootOf(machine()) {
		return false
	}
	if c.Machine != machine() {
		return true
	}
	p, err := readProcess(c.PID)
	return err == nil && p.started == c.Started && !p.zombie
}

// settled keeps a record as long as runs go on that overlapped with its own, and removes
// others that nobody needs any more.
func (c *record) settled(dir string, others []*record) error {
	var running []*record
	for _, o := range others {
		if o.runs() {
			running = append(running, o)
		}
	}
	c.Ended = time.Now()
	for _, o := range append(others, c) {
		needed := slices.ContainsFunc(running, func(r *record) bool { return r.Began.Before(o.Ended) })
		if !o.Ended.IsZero() && !o.Failed && !needed {
			o.remove(dir)
		}
	}
	if !c.Failed && len(running) == 0 {
		return nil
	}
	if !c.Failed || len(c.Stuck) > 0 {
		c.Trees = nil
	}
	return c.write(dir)
}

// account has what was decided for the others count as decided, too.
func (d *decided) account(since time.Time, others []*record) {
	for _, o := range others {
		if !o.Ended.IsZero() && o.Ended.Before(since) {
			continue
		}
		for _, e := range o.Decided {
			d.paths = append(d.paths, e)
			if e.Class != permission.ClassProject {
				d.special = append(d.special, e)
			}
		}
		d.mayMake = d.mayMake || o.Makes
		d.accepted = append(d.accepted, o.Accepted...)
	}
}

// recover settles the runs that air did not live to settle, or could not. While something of
// them is in the way, nothing runs.
func (r *Runner) recover() error {
	dir, err := r.records()
	if err != nil {
		return unready(r.config.Root, err)
	}
	all, err := allRecords(dir)
	if err != nil {
		return fault.New(fault.Unavailable, "unsettled", "reading in %s what earlier commands began with: %w", dir, err).
			WithHint("look for what an earlier command made that other programs obey, then delete the files there")
	}
	var failed error
	for i, c := range all {
		if c.Failed || c.Ended.IsZero() && !c.runs() {
			others := slices.Concat(all[:i], all[i+1:])
			failed = errors.Join(failed, r.settleLate(dir, c, others))
		}
	}
	return failed
}

// settleLate settles a run of another time. An error says what it made, or what is in the way.
func (r *Runner) settleLate(dir string, c *record, others []*record) error {
	d := &decided{permitted: map[permission.Effect]bool{}}
	d.account(c.Began, append(slices.Clone(others), c))
	var all outcome
	for _, t := range c.trees() {
		s := r.surveyOf(t, d)
		s.retry = c.stuckIn(t.Root)
		if err := s.open(); err != nil {
			if exists(t.Root) {
				all.err = errors.Join(all.err, err)
			}
			continue
		}
		all.add(t.Root, s.withhold(c.id))
		s.close()
	}
	c.Failed, c.Stuck = all.err != nil || len(all.stuck) > 0, all.stuck
	if err := c.settled(dir, others); err != nil {
		all.err = errors.Join(all.err, err)
	}
	return all.fault("an earlier command, which air could not settle when it ended,", c.id)
}

// trees are those that a run began with, or where only something in the way is left of them,
// the folders of that.
func (c *record) trees() []tree {
	if len(c.Stuck) == 0 {
		return c.Trees
	}
	var all []tree
	for _, path := range c.Stuck {
		if dir := filepath.Dir(path); !slices.ContainsFunc(all, func(t tree) bool { return t.Root == dir }) {
			all = append(all, tree{Root: dir})
		}
	}
	return all
}

func (c *record) stuckIn(dir string) (names []string) {
	for _, path := range c.Stuck {
		if filepath.Dir(path) == dir {
			names = append(names, filepath.Base(path))
		}
	}
	return names
}
