package capabilities

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/event"
)

// State is where a capability stands in a project, by section 7 of the trust model.
type State string

const (
	Discovered    State = "discovered"
	Validated     State = "validated"
	DoctorChecked State = "doctor_checked"
	Enabled       State = "enabled"
	Registered    State = "registered"
	Active        State = "active"
	Disabled      State = "disabled"
	Failed        State = "failed"
	Updated       State = "updated" // another digest took its place
)

// removed is the state of what was consented to and is not installed any more. When it is
// placed again it is discovered again.
const removed State = "removed"

// stateSchema lies in the project's events.db, so that a state and the event that
// tells of it commit together. enabled is a person's consent to the digest; state may
// be failed for a while beside it. trust is where the bytes lie.
const stateSchema = `
CREATE TABLE IF NOT EXISTS capability_state (
	id         TEXT NOT NULL,
	digest     TEXT NOT NULL,
	trust      TEXT NOT NULL,
	version    TEXT NOT NULL,
	state      TEXT NOT NULL,
	reason     TEXT NOT NULL,
	enabled    INTEGER NOT NULL,
	changed    INTEGER NOT NULL, -- the bytes were not those of the digest
	updated_at TEXT NOT NULL,
	signer     TEXT NOT NULL DEFAULT '', -- id of the key whose signature the consent was shown
	consented_at TEXT NOT NULL DEFAULT '', -- when a person last said yes to this digest
	PRIMARY KEY (id, digest, trust)
);
CREATE UNIQUE INDEX IF NOT EXISTS capability_enabled ON capability_state (id) WHERE enabled = 1;
`

// openState makes the table, and adds what one of an earlier air has not.
func openState(db *sql.DB) error {
	if _, err := db.Exec(stateSchema); err != nil {
		return err
	}
	var now int
	if err := db.QueryRow(`SELECT count(*) FROM pragma_table_info('capability_state') WHERE name IN ('signer', 'consented_at')`).Scan(&now); err != nil || now == 2 {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, column := range []string{`signer`, `consented_at`} {
		if _, err := tx.Exec(`ALTER TABLE capability_state ADD COLUMN ` + column + ` TEXT NOT NULL DEFAULT ''`); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// row is the state of one digest of a capability in this project.
type row struct {
	ID, Digest  string
	Place       TrustLevel // project_local or user_installed: where the bytes lie
	Version     string
	State       State
	Reason      string
	Enabled     bool
	Changed     bool
	Signer      string // id of the key whose signature the consent was shown, empty for none
	ConsentedAt string // when a person last said yes to this digest, empty when none did
}

const rowColumns = `id, digest, trust, version, state, reason, enabled, changed, signer, consented_at`

func (l *Lifecycle) rows(ctx context.Context, where string, args ...any) ([]row, error) {
	found, err := l.config.Events.DB().QueryContext(ctx, `SELECT `+rowColumns+` FROM capability_state `+where, args...)
	if err != nil {
		return nil, event.Storage(err, "reading the state of capabilities")
	}
	defer found.Close()
	var rows []row
	for found.Next() {
		var r row
		if err := found.Scan(&r.ID, &r.Digest, &r.Place, &r.Version, &r.State, &r.Reason, &r.Enabled, &r.Changed, &r.Signer, &r.ConsentedAt); err != nil {
			return nil, event.Storage(err, "reading the state of capabilities")
		}
		rows = append(rows, r)
	}
	return rows, event.Storage(found.Err(), "reading the state of capabilities")
}

// enabled returns the row of the digest that is enabled, if one is.
func (l *Lifecycle) enabled(ctx context.Context, id string) (row, bool, error) {
	rows, err := l.rows(ctx, `WHERE id = ? AND enabled = 1`, id)
	if err != nil || len(rows) == 0 {
		return row{}, false, err
	}
	return rows[0], true, nil
}

// record commits an event together with the changes that it tells of, the row's own
// when there are no others. more is what the event says besides.
func (l *Lifecycle) record(ctx context.Context, eventType string, r row, more map[string]any, changes ...func(*sql.Tx) error) error {
	payload := map[string]any{"capability_id": r.ID, "state": r.State, "trust_level": r.Place}
	for name, value := range map[string]string{"digest": r.Digest, "version": r.Version, "reason": r.Reason} {
		if value != "" {
			payload[name] = value
		}
	}
	for name, value := range more {
		payload[name] = value
	}
	body, err := plainjson.Marshal(payload)
	if err != nil {
		return err
	}
	e := event.Event{Type: eventType, Source: event.Source{Kind: "runtime", ID: "capabilities"}, Payload: body}
	if byPerson(eventType, r) {
		e.Source = event.Source{Kind: "person"}
	}
	if len(changes) == 0 {
		changes = append(changes, r.save)
	}
	_, err = l.config.Events.Append(ctx, e, changes...)
	return err
}

// byPerson reports whether a person caused the change rather than what AIR found.
func byPerson(eventType string, r row) bool {
	switch eventType {
	case event.CapabilityEnabled, event.CapabilityUpdated, event.CapabilityRemoved:
		return true
	case event.CapabilityDisabled:
		return r.Reason == ""
	}
	return false
}

func (r row) save(tx *sql.Tx) error {
	_, err := tx.Exec(`INSERT INTO capability_state (`+rowColumns+`, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id, digest, trust) DO UPDATE SET
		version = excluded.version, state = excluded.state, reason = excluded.reason, enabled = excluded.enabled, changed = excluded.changed, signer = excluded.signer, consented_at = excluded.consented_at, updated_at = excluded.updated_at`,
		r.ID, r.Digest, r.Place, r.Version, r.State, r.Reason, r.Enabled, r.Changed, r.Signer, r.ConsentedAt, now())
	return err
}

// now is the time in UTC, of a width that does not change: sorted as texts, times are in
// their order.
func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000000000Z") }

// forget leaves nothing of a row but that a person once consented to it, so that an older
// version does not come back unnoticed.
func (r row) forget(tx *sql.Tx) error {
	const one = ` WHERE id = ? AND digest = ? AND trust = ?`
	if _, err := tx.Exec(`DELETE FROM capability_state`+one+` AND consented_at = '' AND enabled = 0`, r.ID, r.Digest, r.Place); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE capability_state SET enabled = 0, changed = 0, reason = '', state = ?`+one, removed, r.ID, r.Digest, r.Place)
	return err
}

// errSame ends a transaction that would tell what was told already.
var errSame = errors.New("the state is this already")

// recordFailure records that a capability cannot be used and returns what it was given, so that
// callers end with it.
func (l *Lifecycle) recordFailure(ctx context.Context, r row, cause error) error {
	if ctx.Err() != nil {
		return cause // the caller went away: that is no fault of the capability's
	}
	return errors.Join(cause, l.markFailed(ctx, r, cause))
}

// markFailed makes failed the state, with an event once for each reason.
func (l *Lifecycle) markFailed(ctx context.Context, r row, cause error) error {
	r.State, r.Reason, r.Changed = Failed, text.Line(cause.Error(), 500), fault.Is(cause, fault.Integrity)
	why := fault.From(cause)
	err := l.record(ctx, event.CapabilityFailed, r, map[string]any{"kind": why.Kind, "code": why.Code}, r.unlessSame, r.save)
	if errors.Is(err, errSame) {
		return nil
	}
	return err
}

func (r row) unlessSame(tx *sql.Tx) error {
	var n int
	err := tx.QueryRow(`SELECT count(*) FROM capability_state WHERE id = ? AND digest = ? AND trust = ? AND state = ? AND reason = ?`,
		r.ID, r.Digest, r.Place, r.State, r.Reason).Scan(&n)
	if err == nil && n > 0 {
		return errSame
	}
	return err
}
