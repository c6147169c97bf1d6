package event

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/aircoding/air/internal/redact"
	"github.com/aircoding/air/internal/sqlite"
)

// Options say whose events a store keeps.
type Options struct {
	SessionID string // filled into events that name no session
	ProjectID string // filled into events that name no project
	HeadDir   string // where the heads of chains lie: ~/.air/keys/heads
	Clock     func() time.Time
	// Redactor knows the secrets of the person as they are now; where it fails nothing is
	// stored or shown. nil: secrets are known by their form and name alone.
	Redactor func() (*redact.Redactor, error)
}

// Store keeps the events of one session, or of a project outside sessions. Several
// processes may use one store at once.
type Store struct {
	db      *sql.DB
	insert  *sql.Stmt
	last    *sql.Stmt
	path    string
	key     Key
	head    head
	options Options
	bus     bus

	mu sync.Mutex // one append at a time; the head's lock does it between processes
}

const schema = `
CREATE TABLE IF NOT EXISTS events (
	seq      INTEGER PRIMARY KEY,
	id       TEXT NOT NULL UNIQUE,
	type     TEXT NOT NULL,
	run_id   TEXT NOT NULL,
	body     TEXT NOT NULL, -- the event; what the MAC covers, byte for byte
	previous BLOB NOT NULL, -- MAC of the event before
	mac      BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS events_of_run ON events (run_id) WHERE run_id != '';
`

// Open opens or creates the store in the database at path.
func Open(path string, key Key, options Options) (*Store, error) {
	if options.HeadDir == "" {
		return nil, errors.New("event store without HeadDir")
	}
	if options.Clock == nil {
		options.Clock = time.Now
	}
	db, err := sqlite.Open(path, schema)
	if err != nil {
		return nil, Storage(err, "opening the event store")
	}
	s := &Store{db: db, path: path, key: key, options: options}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(Storage(err, "opening the event store %s", path), db.Close())
	}
	return s, nil
}

func (s *Store) prepare() (err error) {
	if s.head, err = newHead(s.options.HeadDir, s.path, s.key); err != nil {
		return err
	}
	s.insert, err = s.db.Prepare(`INSERT INTO events (seq, id, type, run_id, body, previous, mac) VALUES (?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	s.last, err = s.db.Prepare(`SELECT seq, mac FROM events ORDER BY seq DESC LIMIT 1`)
	return err
}

// DB is the database of the store, for packages whose rows commit together with
// events. It has one connection: close rows before using the store again.
func (s *Store) DB() *sql.DB { return s.db }

// Now is the time by the store's clock, as it is written into events.
func (s *Store) Now() time.Time { return s.options.Clock().Round(0).UTC() }

// Change commits rows without an event.
func (s *Store) Change(ctx context.Context, change func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return Storage(err, "changing %s", s.path)
	}
	defer tx.Rollback()
	if err := change(tx); err != nil {
		return Storage(err, "changing %s", s.path)
	}
	return Storage(tx.Commit(), "changing %s", s.path)
}

// Close closes the database.
func (s *Store) Close() error { return Storage(s.db.Close(), "closing %s", s.path) }
