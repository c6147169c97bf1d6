// Package artifact keeps the files that tools make for a session: whole, unchanged and
// each with a record, or not at all.
package artifact

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime/event"
)

// New describes an artifact to be made.
type New struct {
	Type       string // such as report: lower-case letters, digits, _ and -
	Name       string // as shown, such as summary.json
	MediaType  string
	RunID      string // of the call that makes it
	Owner      Owner
	EntityType string // what it belongs to, in the caller's words
	EntityID   string
	Metadata   json.RawMessage // an object, or nothing
}

// Owner is the capability that an artifact belongs to, as the code that it was: under
// another digest it is another one. The zero value is a person or their agent.
type Owner struct {
	Capability string `json:"owner,omitempty"`
	Digest     string `json:"owner_digest,omitempty"` // of the bundle; "" for a bare module
}

func (o Owner) text() string {
	if o == (Owner{}) {
		return ""
	}
	return o.Capability + "@" + o.Digest
}

func parseOwner(text string) (o Owner) {
	o.Capability, o.Digest, _ = strings.Cut(text, "@")
	return o
}

// Record describes a stored artifact.
type Record struct {
	ID         string          `json:"id"`
	SessionID  string          `json:"session_id"`
	TaskID     string          `json:"task_id,omitempty"`
	RunID      string          `json:"run_id,omitempty"`
	Owner                      // capability that made it
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	MediaType  string          `json:"media_type"`
	SHA256     string          `json:"sha256"` // hex
	Size       int64           `json:"size_bytes"`
	URI        string          `json:"uri"`  // air://<session>/<id>
	Path       string          `json:"path"` // absolute
	CreatedAt  time.Time       `json:"created_at"`
	EntityType string          `json:"entity_type,omitempty"`
	EntityID   string          `json:"entity_id,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`

	file string // what Path names, below the folder of artifacts
}

// Content is the open file of an artifact.
type Content interface {
	io.ReadSeeker
	io.ReaderAt
	io.Closer
}

const maxSize = 256 << 20

// Store keeps the artifacts of one session.
type Store struct {
	dir       string
	sessionID string
	taskID    string
	events    *event.Store
	limit     int64 // of one artifact, in bytes
}

const schema = `
CREATE TABLE IF NOT EXISTS artifacts (
	n           INTEGER PRIMARY KEY,
	id          TEXT NOT NULL UNIQUE,
	task_id     TEXT NOT NULL,
	run_id      TEXT NOT NULL,
	owner       TEXT NOT NULL, -- capability@digest, or nothing
	type        TEXT NOT NULL,
	name        TEXT NOT NULL,
	media_type  TEXT NOT NULL,
	sha256      TEXT NOT NULL,
	size        INTEGER NOT NULL,
	path        TEXT NOT NULL, -- below the folder of artifacts; records of the same bytes share one
	created_at  TEXT NOT NULL,
	entity_type TEXT NOT NULL,
	entity_id   TEXT NOT NULL,
	metadata    TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS artifacts_by_content ON artifacts (sha256);
`

// Open opens the store in dir, …/sessions/<id>/artifacts, with its records in the
// database of events. It removes what processes that died while writing left there.
func Open(dir, sessionID string, events *event.Store) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, event.Storage(err, "opening the artifacts")
	}
	if _, err := events.DB().Exec(schema); err != nil {
		return nil, event.Storage(err, "opening the artifacts of session %s", sessionID)
	}
	s := &Store{dir: dir, sessionID: sessionID, events: events, limit: maxSize}
	return s, event.Storage(s.removeStrays(), "opening the artifacts of session %s", sessionID)
}

// ForTask returns the store for artifacts of a task.
func (s *Store) ForTask(id string) *Store {
	t := *s
	t.taskID = id
	return &t
}

// Create stores content as a new artifact. The bytes are on disk before the record and
// its artifact.created event are, which commit together. Bytes that the session has
// already are kept once: the new record names the file that is there. On any error
// there is neither a file nor a record. The changes commit with it, see event.Store.Append.
func (s *Store) Create(ctx context.Context, n New, content io.Reader, changes ...func(*sql.Tx) error) (Record, error) {
	if err := n.check(); err != nil {
		return Record{}, err
	}
	r := s.record(n)
	own := r.Path
	if err := s.write(ctx, &r, content); err != nil {
		return Record{}, errors.Join(err, remove(own))
	}
	_, err := s.events.Append(ctx, r.event(), append(changes, func(tx *sql.Tx) error {
		if err := s.reuse(ctx, tx, &r); err != nil {
			return err
		}
		return s.insert(ctx, tx, r)
	})...)
	if err != nil {
		return Record{}, errors.Join(err, remove(own))
	}
	if r.Path != own {
		_ = remove(own) // the record names the other file: one that stays is in nobody's way
	}
	return r, nil
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s *Store) record(n New) Record {
	id := "art_" + ids.New()
	r := Record{
		ID:         id,
		SessionID:  s.sessionID,
		TaskID:     s.taskID,
		RunID:      n.RunID,
		Owner:      n.Owner,
		Type:       n.Type,
		Name:       n.Name,
		MediaType:  n.MediaType,
		URI:        "air://" + s.sessionID + "/" + id,
		CreatedAt:  s.events.Now(),
		EntityType: n.EntityType,
		EntityID:   n.EntityID,
		Metadata:   n.Metadata,
	}
	s.locate(&r, filepath.Join(n.Type, id+n.extension()))
	return r
}

func (s *Store) locate(r *Record, file string) {
	r.file, r.Path = file, filepath.Join(s.dir, file)
}
