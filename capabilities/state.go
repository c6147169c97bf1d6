package capabilities

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/aircoding/air/internal/plainjson"
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
CREATE TABLE IF NOT EXISTS capability_consent (
	id         TEXT NOT NULL,
	digest     TEXT NOT NULL,
	trust      TEXT NOT NULL,
	version    TEXT NOT NULL,
	state      TEXT NOT NULL,
	reason     TEXT NOT NULL,
	changed    INTEGER NOT NULL, -- the bytes were not those of the digest
	updated_at TEXT NOT NULL,
	enabled    INTEGER NOT NULL DEFAULT 0,
	consented_at TEXT NOT NULL DEFAULT '', -- when a person last said yes to this digest: later than for any other of the id
	signer     TEXT NOT NULL DEFAULT '', -- id of the key whose signature the consent was shown
	origin     TEXT NOT NULL DEFAULT '{}', -- where the bytes came from, as the consent was shown
	PRIMARY KEY (id, digest, trust)
);
CREATE UNIQUE INDEX IF NOT EXISTS capability_enabled ON capability_consent (id) WHERE enabled = 1;
`

// row is the state of one digest of a capability in this project.
type row struct {
	ID, Digest string
	Place      TrustLevel // project_local or user_installed: where the bytes lie
	Version    string
	State      State
	Reason     string
	Changed    bool
	consented
}

// consented is what a person agreed to besides the digest. Only consent and its end write it.
type consented struct {
	Enabled bool
	At      string // of the last yes to this digest, empty for none
	Signer  string // id of the key whose signature was shown, empty for none
	Origin  origin
}

// origin is where a bundle came from, as far as AIR knows.
type origin struct {
	Source    Source `json:"source"`
	Reference string `json:"reference,omitempty"` // as it was pulled
	Asked     string `json:"asked,omitempty"`     // see Installed.Asked
	Unknown   bool   `json:"unknown,omitempty"`   // its record was damaged or gone
}

const rowColumns = `id, digest, trust, version, state, reason, changed, enabled, consented_at, signer, origin`

// queries is the database or one transaction of it.
type queries interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (l *Lifecycle) rows(ctx context.Context, where string, args ...any) ([]row, error) {
	return rowsOf(ctx, l.config.Events.DB(), where, args...)
}

func rowsOf(ctx context.Context, q queries, where string, args ...any) ([]row, error) {
	found, err := q.QueryContext(ctx, `SELECT `+rowColumns+` FROM capability_consent `+where, args...)
	if err != nil {
		return nil, event.Storage(err, "reading the state of capabilities")
	}
	defer found.Close()
	var rows []row
	for found.Next() {
		var r row
		var from []byte
		err := found.Scan(&r.ID, &r.Digest, &r.Place, &r.Version, &r.State, &r.Reason, &r.Changed, &r.Enabled, &r.At, &r.Signer, &from)
		if err := errors.Join(err, json.Unmarshal(from, &r.Origin)); err != nil {
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

// record commits an event together with the changes that it tells of. more is what the
// event says besides.
func (l *Lifecycle) record(ctx context.Context, eventType string, r row, more map[string]any, changes ...func(*sql.Tx) error) error {
	payload := map[string]any{"capability_id": r.ID, "state": r.State, "place": r.Place}
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
