// Package sqlite opens SQLite databases the one way AIR uses them.
package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// waitBusy is how long a writer waits for others.
const waitBusy = 10 * time.Second

// Open opens or creates the database at path, with mode 0600 in a folder of mode
// 0700, and applies schema, which must be repeatable. Writers queue for up to ten
// seconds. A commit survives a crash of the process; after a power cut the last
// commits may be missing, never half there (WAL with synchronous=NORMAL).
func Open(path, schema string) (*sql.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := create(path); err != nil {
		return nil, err
	}
	query := url.Values{
		"_txlock": {"immediate"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", waitBusy.Milliseconds()), "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(ON)"},
	}
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	if err := apply(db, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), db.Close())
	}
	return db, nil
}

// apply makes the tables of a database. Turning a new file to WAL does not wait for
// another process that does so at the same moment, whatever busy_timeout says.
func apply(db *sql.DB, schema string) error {
	const busy = 5 // SQLITE_BUSY, in the low byte (sqlite.org/rescode.html)
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		_, err := db.Exec(schema)
		var result interface{ Code() int }
		if err == nil || !errors.As(err, &result) || result.Code()&0xff != busy || time.Since(start) > waitBusy {
			return err
		}
	}
}

// create makes the file where there is none, for its mode. A file that exists is not
// even opened: closing it would drop the POSIX locks that another connection of this
// process has on it.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}
