package session

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/aircoding/air/runtime/event"
)

// Usage is what calls have used, or may use, in a session.
type Usage struct {
	Calls    int64
	BytesOut int64         // of outputs, written files and artifacts
	Wall     time.Duration // while calls ran, without the time that a person took to answer
}

const budgetSchema = `
CREATE TABLE IF NOT EXISTS used (
	account   TEXT PRIMARY KEY, -- a capability, or nothing: the session as a whole
	calls     INTEGER NOT NULL,
	bytes_out INTEGER NOT NULL,
	wall_ns   INTEGER NOT NULL
) WITHOUT ROWID;
`

// meter holds the statements that count: they run in the transactions of a call's
// events.
type meter struct {
	read, add *sql.Stmt
}

func newMeter(db *sql.DB) (m meter, err error) {
	if m.read, err = db.Prepare(`SELECT calls, bytes_out, wall_ns FROM used WHERE account = ?`); err != nil {
		return m, err
	}
	m.add, err = db.Prepare(`INSERT INTO used (account, calls, bytes_out, wall_ns) VALUES (?, ?, ?, ?)
		ON CONFLICT (account) DO UPDATE SET calls = calls + excluded.calls, bytes_out = bytes_out + excluded.bytes_out, wall_ns = wall_ns + excluded.wall_ns
		RETURNING calls, bytes_out, wall_ns`)
	return m, err
}

// Used returns what an account used, a capability or "" for the session as a whole, as
// the transaction sees it.
func (s *Session) Used(tx *sql.Tx, account string) (used Usage, err error) {
	err = used.scan(tx.Stmt(s.meter.read).QueryRow(account))
	if errors.Is(err, sql.ErrNoRows) {
		return Usage{}, nil
	}
	return used, err
}

// Charge adds to what an account used, as part of the transaction, and returns all of it.
func (s *Session) Charge(tx *sql.Tx, account string, add Usage) (now Usage, err error) {
	err = now.scan(tx.Stmt(s.meter.add).QueryRow(account, add.Calls, add.BytesOut, add.Wall.Nanoseconds()))
	return now, err
}

func (u *Usage) scan(row interface{ Scan(...any) error }, before ...any) error {
	return row.Scan(append(before, &u.Calls, &u.BytesOut, (*int64)(&u.Wall))...)
}

// Usage returns what the session used by account: by capability, and all of it as "".
func (s *Session) Usage(ctx context.Context) (map[string]Usage, error) {
	rows, err := s.Events.DB().QueryContext(ctx, `SELECT account, calls, bytes_out, wall_ns FROM used`)
	if err != nil {
		return nil, event.Storage(err, "reading what session %s used", s.ID)
	}
	defer rows.Close()
	all := map[string]Usage{}
	for rows.Next() {
		var account string
		var used Usage
		if err := used.scan(rows, &account); err != nil {
			return nil, event.Storage(err, "reading what session %s used", s.ID)
		}
		all[account] = used
	}
	return all, event.Storage(rows.Err(), "reading what session %s used", s.ID)
}
