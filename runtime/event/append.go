package event

import (
	"context"
	"database/sql"
	"encoding/json"
	"unicode/utf8"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/internal/plainjson"
)

// maxPayload is the size up to which a payload is stored. More goes to an artifact.
const maxPayload = 256 << 10

// Append stores an event and the changes that belong to it in one transaction, and
// then shows it to subscribers. It fills in id and timestamp, and where they are empty
// version, session and project. An append that has begun is not interrupted by ctx.
// The changes use nothing but their transaction. The payload is stored, and returned,
// without secrets.
func (s *Store) Append(ctx context.Context, e Event, changes ...func(*sql.Tx) error) (Event, error) {
	if !IsDurable(e.Type) {
		return Event{}, unknownType(e.Type)
	}
	return s.append(ctx, e, changes)
}

// AppendCustom is Append for a capability's own event. Whoever calls it has made sure that
// a person accepted its type and that the payload is of the form that they accepted.
func (s *Store) AppendCustom(ctx context.Context, e Event, changes ...func(*sql.Tx) error) (Event, error) {
	if !IsCustom(e.Type) {
		return Event{}, unknownType(e.Type)
	}
	return s.append(ctx, e, changes)
}

func unknownType(eventType string) error {
	return fault.New(fault.InvalidInput, "unknown_event", "event type %.128q is not one that is stored", eventType).
		WithHint("a capability's own event is stored where the project's capabilities.yaml registers its type and that was accepted")
}

func (s *Store) append(ctx context.Context, e Event, changes []func(*sql.Tx) error) (Event, error) {
	err := checkPayload(e)
	if err != nil {
		return Event{}, err
	}
	if e.Payload, err = s.redact(e.Payload); err != nil {
		return Event{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Event{}, context.Cause(ctx)
	}
	unlock, err := home.Lock(ctx, s.head.path)
	if err != nil {
		return Event{}, Storage(err, "recording %s", e.Type)
	}
	defer unlock()
	e = s.complete(e) // under the lock: the order of ids is the order of the chain
	at, err := s.commit(context.WithoutCancel(ctx), e, changes)
	if err != nil {
		return Event{}, Storage(err, "recording %s in %s", e.Type, s.path)
	}
	_ = s.head.write(at) // the event is stored; a head that stayed behind is brought up to date by the next append
	s.bus.send(e, true)
	return e, nil
}

func checkPayload(e Event) error {
	switch {
	case len(e.Payload) > maxPayload:
		return fault.New(fault.ResourceExhausted, "payload_size", "payload of %s has %d bytes, the limit is %d", e.Type, len(e.Payload), maxPayload).
			WithHint("store the content as an artifact and name that in the event")
	case len(e.Payload) > 0 && !(json.Valid(e.Payload) && utf8.Valid(e.Payload)):
		return fault.New(fault.InvalidInput, "bad_payload", "payload of %s is not JSON in UTF-8", e.Type)
	}
	return nil
}

func (s *Store) complete(e Event) Event {
	e.ID = ids.New()
	e.Timestamp = s.Now()
	if e.Version == 0 {
		e.Version = 1
	}
	if e.SessionID == "" {
		e.SessionID = s.options.SessionID
	}
	if e.ProjectID == "" {
		e.ProjectID = s.options.ProjectID
	}
	if e.Route == nil {
		e.Route = []string{}
	}
	if len(e.Payload) == 0 {
		e.Payload = json.RawMessage(`{}`)
	}
	return e
}

// commit stores the event as the next link of the chain.
func (s *Store) commit(ctx context.Context, e Event, changes []func(*sql.Tx) error) (at link, err error) {
	body, err := encode(e)
	if err != nil {
		return at, err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return at, err
	}
	defer tx.Rollback()
	previous, err := s.tip(ctx, tx)
	if err != nil {
		return at, err
	}
	at = previous.next(s.key, body)
	if _, err := tx.Stmt(s.insert).Exec(at.seq, e.ID, e.Type, e.runID(), string(body), previous.mac[:], at.mac[:]); err != nil {
		return at, err
	}
	for _, change := range changes {
		if err := change(tx); err != nil {
			return at, err
		}
	}
	return at, tx.Commit()
}

// encode gives the bytes that are stored and that the MAC covers.
func encode(e Event) ([]byte, error) {
	return plainjson.Marshal(e)
}

// runID is the call that the event belongs to, as its payload has it.
func (e Event) runID() string {
	var p struct {
		RunID string `json:"run_id"`
	}
	if json.Unmarshal(e.Payload, &p) != nil {
		return "" // a payload without a run: not an object, or with another run_id
	}
	return p.RunID
}
