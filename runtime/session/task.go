package session

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime/event"
)

// Task is one unit of work in a session.
type Task struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Started time.Time `json:"started_at"`
}

const maxTitle = 1000

// NewTask begins a task and makes it the session's current one.
func (s *Session) NewTask(ctx context.Context, title string) (Task, error) {
	if len(title) > maxTitle {
		return Task{}, fault.New(fault.InvalidInput, "task_title", "the title has %d bytes, the limit is %d", len(title), maxTitle)
	}
	t := Task{ID: ids.New(), Title: title, Started: s.Events.Now()}
	payload, err := json.Marshal(map[string]any{"task_id": t.ID, "title": t.Title})
	if err != nil {
		return Task{}, err
	}
	e := event.Event{Type: event.SessionTask, Source: event.Source{Kind: "runtime"}, Payload: payload}
	_, err = s.Events.Append(ctx, e, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO tasks (id, title, started) VALUES (?, ?, ?)`, t.ID, t.Title, t.Started.Format(time.RFC3339Nano))
		return errors.Join(err, s.keepTask(ctx, tx, t.ID))
	})
	if err != nil {
		return Task{}, err
	}
	s.setTask(t.ID)
	return t, nil
}

func (s *Session) keepTask(ctx context.Context, tx *sql.Tx, id string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO session (id, task) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET task = excluded.task`, s.ID, id)
	return err
}

// Tasks returns the tasks of the session, oldest first.
func (s *Session) Tasks(ctx context.Context) ([]Task, error) {
	rows, err := s.Events.DB().QueryContext(ctx, `SELECT id, title, started FROM tasks ORDER BY n`)
	if err != nil {
		return nil, event.Storage(err, "listing tasks of session %s", s.ID)
	}
	defer rows.Close()
	list := []Task{}
	for rows.Next() {
		var t Task
		var at string
		if err := rows.Scan(&t.ID, &t.Title, &at); err != nil {
			return nil, event.Storage(err, "listing tasks of session %s", s.ID)
		}
		if t.Started, err = time.Parse(time.RFC3339Nano, at); err != nil {
			return nil, event.Storage(err, "listing tasks of session %s", s.ID)
		}
		list = append(list, t)
	}
	return list, event.Storage(rows.Err(), "listing tasks of session %s", s.ID)
}

// UseTask makes a task the session's current one. The id may be given by the beginning
// of it that no other one has.
func (s *Session) UseTask(ctx context.Context, id string) (Task, error) {
	t, err := s.findTask(ctx, id)
	if err != nil {
		return Task{}, err
	}
	if err := s.Events.Change(ctx, func(tx *sql.Tx) error { return s.keepTask(ctx, tx, t.ID) }); err != nil {
		return Task{}, err
	}
	s.setTask(t.ID)
	return t, nil
}

func (s *Session) findTask(ctx context.Context, prefix string) (Task, error) {
	unknown := fault.New(fault.NotFound, "unknown_task", "no task %.64q in session %s", prefix, s.ID).WithHint("air task ls lists them")
	if !prefixForm.MatchString(prefix) {
		return Task{}, unknown
	}
	tasks, err := s.Tasks(ctx)
	if err != nil {
		return Task{}, err
	}
	byID := map[string]Task{}
	var all []string
	for _, t := range tasks {
		byID[t.ID], all = t, append(all, t.ID)
	}
	id, err := one("task", prefix, all, unknown)
	return byID[id], err
}

// RecordRead notes that the task has seen the file with the digest.
func (s *Session) RecordRead(ctx context.Context, path, sha256 string) error {
	return s.Events.Change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO reads (task, path, sha256) VALUES (?, ?, ?)
			ON CONFLICT (task, path) DO UPDATE SET sha256 = excluded.sha256`, s.Task, path, sha256)
		return err
	})
}

// LastRead returns the digest of the file as the task saw it last; ok is false when it
// has not seen it.
func (s *Session) LastRead(ctx context.Context, path string) (sha256 string, ok bool, err error) {
	err = s.Events.DB().QueryRowContext(ctx, `SELECT sha256 FROM reads WHERE task = ? AND path = ?`, s.Task, path).Scan(&sha256)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return sha256, err == nil, event.Storage(err, "looking for a read of %s", path)
}
