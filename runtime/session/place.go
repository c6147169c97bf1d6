package session

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime/artifact"
	"github.com/aircoding/air/runtime/event"
)

// place is where the sessions of one project lie.
type place struct {
	project home.Project
	home    home.Home
	options Options
}

func (pl place) path(elem ...string) string {
	return filepath.Join(append([]string{pl.project.Dir}, elem...)...)
}

func (pl place) lock(ctx context.Context) (unlock func(), err error) {
	unlock, err = home.Lock(ctx, pl.path("locks", "session"))
	return unlock, event.Storage(err, "beginning a session")
}

// openOrBegin opens a session. The lock is taken only where something has to be made:
// the session when id is "", or what a crash left out when it was made.
func (pl place) openOrBegin(ctx context.Context, id string) (*Session, error) {
	if id != "" {
		s, err := pl.open(ctx, id)
		if err != nil || s.Task != "" {
			return s, err
		}
		if err := s.Close(); err != nil {
			return nil, err
		}
	}
	unlock, err := pl.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if id == "" {
		if id, err = pl.current(); err != nil {
			return nil, err
		}
	}
	if id == "" {
		return pl.create(ctx)
	}
	return pl.begin(ctx, id)
}

// create makes a session and then names it the current one. The caller holds the lock.
func (pl place) create(ctx context.Context) (*Session, error) {
	id := ids.New()
	s, err := pl.begin(ctx, id)
	if err == nil {
		if err = pl.setCurrent(id); err == nil {
			return s, nil
		}
		err = errors.Join(err, s.Close())
	}
	return nil, errors.Join(err, os.RemoveAll(pl.path("sessions", id)))
}

// begin opens a session and records its start and first task, unless that is done.
// The caller holds the lock.
func (pl place) begin(ctx context.Context, id string) (*Session, error) {
	s, err := pl.open(ctx, id)
	if err != nil || s.Task != "" {
		return s, err
	}
	if err = s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Session) start(ctx context.Context) error {
	payload, err := json.Marshal(map[string]any{"session_id": s.ID})
	if err != nil {
		return err
	}
	_, err = s.Events.Append(ctx, event.Event{Type: event.SessionStarted, Source: event.Source{Kind: "runtime"}, Payload: payload})
	if err != nil {
		return err
	}
	_, err = s.NewTask(ctx, "") // its row is what shows that the session has begun
	return err
}

func (pl place) open(ctx context.Context, id string) (*Session, error) {
	dir := pl.path("sessions", id)
	events, err := pl.events(filepath.Join(dir, "session.db"), id)
	if err != nil {
		return nil, err
	}
	s := &Session{ID: id, Dir: dir, Started: ids.Time(id), Events: events}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Session) prepare(ctx context.Context) (err error) {
	if s.Artifacts, err = artifact.Open(filepath.Join(s.Dir, "artifacts"), s.ID, s.Events); err != nil {
		return err
	}
	if _, err := s.Events.DB().ExecContext(ctx, schema+budgetSchema+flowSchema); err != nil {
		return event.Storage(err, "opening session %s", s.ID)
	}
	if s.meter, err = newMeter(s.Events.DB()); err != nil {
		return event.Storage(err, "opening session %s", s.ID)
	}
	return s.load(ctx)
}

func (pl place) events(path, sessionID string) (*event.Store, error) {
	key, err := event.LoadKey(pl.home.Path("keys"))
	if err != nil {
		return nil, err
	}
	return event.Open(path, key, event.Options{
		SessionID: sessionID,
		ProjectID: pl.project.ID,
		HeadDir:   pl.home.Path("keys", "heads"),
		Clock:     pl.options.Clock,
		Redactor:  pl.options.Redactor,
	})
}
