package event

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// Query selects events. Its zero value selects the first 1,000 of a store.
type Query struct {
	Types  []string // only these; empty for all
	RunID  string   // only of this call
	After  string   // only those after the event with this id
	Limit  int      // at most this many, 1,000 when 0
	Newest bool     // keep the newest instead of the oldest; the order stays
}

const defaultLimit = 1000

// List returns events in the order in which they happened.
func (s *Store) List(ctx context.Context, q Query) ([]Event, error) {
	after, err := s.seq(ctx, q.After)
	if err != nil {
		return nil, err
	}
	text, args := q.sql(after)
	rows, err := s.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, Storage(err, "listing events of %s", s.path)
	}
	defer rows.Close()
	list := []Event{}
	for rows.Next() {
		e, err := scan(rows)
		if err != nil {
			return nil, Storage(err, "listing events of %s", s.path)
		}
		list = append(list, e)
	}
	if q.Newest {
		slices.Reverse(list)
	}
	return list, Storage(rows.Err(), "listing events of %s", s.path)
}

func (q Query) sql(after int64) (text string, args []any) {
	text, args = `SELECT body FROM events WHERE seq > ?`, []any{after}
	if len(q.Types) > 0 {
		text += ` AND type IN (?` + strings.Repeat(`, ?`, len(q.Types)-1) + `)`
		for _, t := range q.Types {
			args = append(args, t)
		}
	}
	if q.RunID != "" {
		text += ` AND run_id = ? AND run_id != ''` // the second for the partial index
		args = append(args, q.RunID)
	}
	text += ` ORDER BY seq`
	if q.Newest {
		text += ` DESC`
	}
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	return text + ` LIMIT ?`, append(args, q.Limit)
}

// seq is the place of the event with an id in its chain, 0 for "".
func (s *Store) seq(ctx context.Context, id string) (seq int64, err error) {
	if id == "" {
		return 0, nil
	}
	err = s.db.QueryRowContext(ctx, `SELECT seq FROM events WHERE id = ?`, id).Scan(&seq)
	return seq, s.unknown(id, err)
}

// Get returns the event with an id.
func (s *Store) Get(ctx context.Context, id string) (Event, error) {
	e, err := scan(s.db.QueryRowContext(ctx, `SELECT body FROM events WHERE id = ?`, id))
	return e, s.unknown(id, err)
}

func (s *Store) unknown(id string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fault.New(fault.NotFound, "unknown_event", "no event %.64q in %s", id, s.path)
	}
	return Storage(err, "reading event %.64q of %s", id, s.path)
}

func scan(row interface{ Scan(...any) error }) (e Event, err error) {
	var body []byte
	if err := row.Scan(&body); err != nil {
		return e, err
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return e, fault.New(fault.Integrity, "bad_event", "a stored event is not JSON any more: %w", err).
			WithHint("air event verify names what was changed")
	}
	return e, nil
}
