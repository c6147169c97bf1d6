package event

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
)

// Report is what Verify found.
type Report struct {
	Events   int      `json:"events"`
	Problems []string `json:"problems"` // empty when the chain is whole
}

// maxProblems bounds a report: a store whose events were renumbered has one per event.
const maxProblems = 100

// Verify checks that the stored events are those that were recorded: none changed,
// moved, removed or added by anyone without the key. A head that is behind is brought
// up to date, which is no problem.
func (s *Store) Verify(ctx context.Context) (Report, error) {
	v := verifier{store: s, report: Report{Problems: []string{}}}
	behind, err := v.run(ctx)
	if err == nil && behind {
		err = s.catchUp(ctx)
	}
	return v.report, Storage(err, "verifying %s", s.path)
}

type verifier struct {
	store  *Store
	report Report

	head   link
	sealed bool // the head has a good seal

	at      link // the event before the one that is looked at
	intact  bool // that event is what was recorded in its place
	omitted int
}

// run reads head and events as of one moment, without holding up other processes
// while it checks.
func (v *verifier) run(ctx context.Context) (behind bool, err error) {
	tx, err := v.snapshot(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	rows, err := tx.QueryContext(ctx, `SELECT seq, id, type, run_id, body, previous, mac FROM events ORDER BY seq`)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	v.at, v.intact = v.store.head.start(), true
	for rows.Next() {
		var r row
		var previous, sum []byte
		if err := rows.Scan(&r.seq, &r.id, &r.eventType, &r.runID, &r.body, &previous, &sum); err != nil {
			return false, fault.New(fault.Integrity, "bad_event", "a row of the events has another form than it was recorded in: %w", err)
		}
		copy(r.previous[:], previous)
		copy(r.mac[:], sum)
		v.report.Events++
		v.row(r)
	}
	v.end()
	return v.sealed && v.at.seq > v.head.seq && len(v.report.Problems) == 0, rows.Err()
}

func (v *verifier) snapshot(ctx context.Context) (*sql.Tx, error) {
	unlock, err := home.Lock(ctx, v.store.head.path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if v.head, v.sealed, err = v.store.head.read(); err != nil {
		return nil, err
	}
	tx, err := v.store.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	if _, err := v.store.lastLink(ctx, tx); err != nil { // a transaction sees what was there at its first read
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// row is a stored event.
type row struct {
	link
	id, eventType, runID string
	body                 []byte
	previous             mac
}

func (v *verifier) row(r row) {
	if r.seq < 1 {
		v.problem("%s (%.36q) was added before the first", r.link, r.id)
		return
	}
	fits := v.store.key.event(r.previous, r.body, r.seq) == r.mac
	switch {
	case r.seq > v.at.seq+1:
		v.missing(v.at.seq+1, r.seq-1, fmt.Sprintf("before %s", r.link))
	case fits && v.intact && r.previous == mac{}:
		v.problem("the chain begins anew at %s: its head had been removed or replaced before", r.link)
	case fits && v.intact && r.previous != v.at.mac && r.seq == 1:
		v.problem("event 1 belongs to another store: the database was replaced")
	case fits && v.intact && r.previous != v.at.mac:
		v.problem("%s was recorded after another event %d than the stored one", r.link, v.at.seq)
	}
	if !fits {
		v.changed(r)
	} else {
		v.columns(r)
	}
	if r.seq == v.head.seq && fits && v.sealed && r.mac != v.head.mac {
		v.problem("%s is not the one that the head names: the database was replaced", r.link)
	}
	v.at, v.intact = r.link, fits
}

// changed tells a moved event from one whose content is another.
func (v *verifier) changed(r row) {
	const near = 64
	for seq := max(1, r.seq-near); seq <= r.seq+near; seq++ {
		if v.store.key.event(r.previous, r.body, seq) == r.mac {
			v.problem("%s (%.36q) was recorded as event %d: the order was changed", r.link, r.id, seq)
			return
		}
	}
	v.problem("%s (%.36q) was changed or added", r.link, r.id)
}

// columns checks what is stored besides the event to find it by.
func (v *verifier) columns(r row) {
	var e Event
	if err := json.Unmarshal(r.body, &e); err != nil || e.ID != r.id || e.Type != r.eventType || e.runID() != r.runID {
		v.problem("%s (%.36q): the columns to find it by were changed", r.link, r.id)
	}
}

func (v *verifier) end() {
	switch {
	case !v.sealed && v.report.Events > 0:
		v.problem("the head of the chain was removed or overwritten: events after event %d may be missing", v.at.seq)
	case v.sealed && v.head.seq > v.at.seq:
		v.missing(v.at.seq+1, v.head.seq, "at the end: cut off, or lost when the power failed")
	}
	if v.omitted > 0 {
		v.report.Problems = append(v.report.Problems, fmt.Sprintf("and %d more", v.omitted))
	}
}

func (v *verifier) missing(first, last int64, where string) {
	if first == last {
		v.problem("event %d is missing %s", first, where)
		return
	}
	v.problem("events %d to %d are missing %s", first, last, where)
}

func (v *verifier) problem(format string, args ...any) {
	if len(v.report.Problems) == maxProblems {
		v.omitted++
		return
	}
	v.report.Problems = append(v.report.Problems, fmt.Sprintf(format, args...))
}
