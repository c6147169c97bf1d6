// Package session knows which conversation and task a call belongs to, and what that
// task has read. A session's folder holds its events and artifacts.
package session

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"time"

	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/redact"
	"github.com/aircoding/air/runtime/artifact"
	"github.com/aircoding/air/runtime/event"
)

// Options choose a session and a task. The zero value is the current ones.
type Options struct {
	Session string // an id or the beginning of exactly one
	Task    string // likewise
	Clock   func() time.Time
	// Redactor is that of the session's events, see event.Options.
	Redactor func() (*redact.Redactor, error)
}

// Session is an open session. Its methods that change the task are not for concurrent use.
type Session struct {
	ID        string
	Task      string // id of the task that calls belong to
	Dir       string
	Started   time.Time
	Events    *event.Store
	Artifacts *artifact.Store

	meter *sql.Stmt // see newMeter
}

const schema = `
CREATE TABLE IF NOT EXISTS session (
	id   TEXT PRIMARY KEY,
	task TEXT NOT NULL -- the current one
);
CREATE TABLE IF NOT EXISTS tasks (
	n       INTEGER PRIMARY KEY,
	id      TEXT NOT NULL UNIQUE,
	title   TEXT NOT NULL,
	started TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS reads (
	task   TEXT NOT NULL,
	path   TEXT NOT NULL,
	sha256 TEXT NOT NULL,
	PRIMARY KEY (task, path)
) WITHOUT ROWID;
`

// Current opens the chosen session or the project's current one. Where there is none
// it makes one, and of two processes that do so at once both get the same.
func Current(ctx context.Context, p home.Project, h home.Home, o Options) (*Session, error) {
	pl := place{p, h, o}
	id, err := pl.choose(o.Session)
	if err != nil {
		return nil, err
	}
	s, err := pl.openOrBegin(ctx, id)
	if err != nil || o.Task == "" {
		return s, err
	}
	t, err := s.findTask(ctx, o.Task)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.setTask(t.ID)
	return s, nil
}

// New begins a session and makes it the current one.
func New(ctx context.Context, p home.Project, h home.Home, o Options) (*Session, error) {
	pl := place{p, h, o}
	unlock, err := pl.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return pl.create(ctx)
}

// ProjectEvents opens the store of what happens in a project outside sessions. Of the
// options it goes by clock and redactor.
func ProjectEvents(p home.Project, h home.Home, o Options) (*event.Store, error) {
	return place{p, h, o}.events(filepath.Join(p.Dir, "events.db"), "")
}

// Close closes the session's stores.
func (s *Session) Close() error { return s.Events.Close() }

func (s *Session) setTask(id string) {
	s.Task, s.Artifacts = id, s.Artifacts.ForTask(id)
}

// load fills in the current task. A session that has not begun yet has none.
func (s *Session) load(ctx context.Context) error {
	var task string
	err := s.Events.DB().QueryRowContext(ctx, `SELECT task FROM session WHERE id = ?`, s.ID).Scan(&task)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	s.setTask(task)
	return event.Storage(err, "opening session %s", s.ID)
}
