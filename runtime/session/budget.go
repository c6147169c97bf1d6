package session

import (
	"context"
	"database/sql"
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

// newMeter prepares the statement that counts: it runs in the transactions of a call's
// events.
func newMeter(db *sql.DB) (*sql.Stmt, error) {
	return db.Prepare(`INSERT INTO used (account, calls, bytes_out, wall_ns) VALUES (?, ?, ?, ?)
		ON CONFLICT (account) DO UPDATE SET calls = calls + excluded.calls, bytes_out = bytes_out + excluded.bytes_out, wall_ns = wall_ns + excluded.wall_ns
		RETURNING calls, bytes_out, wall_ns`)
}

// Charge adds to what an account used, as part of the transaction, and returns all of it.
// What is below 0 is given back.
func (s *Session) Charge(tx *sql.Tx, account string, add Usage) (now Usage, err error) {
	err = now.scan(tx.Stmt(s.meter).QueryRow(account, add.Calls, add.BytesOut, add.Wall.Nanoseconds()))
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
