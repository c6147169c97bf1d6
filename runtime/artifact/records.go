package artifact

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/runtime/event"
)

const columns = `id, task_id, run_id, owner, type, name, media_type, sha256, size, path, created_at, entity_type, entity_id, metadata`

// insert stores the record.
func (s *Store) insert(ctx context.Context, tx *sql.Tx, r Record) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO artifacts (`+columns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.TaskID, r.RunID, r.Owner.text(), r.Type, r.Name, r.MediaType, r.SHA256, r.Size, r.file,
		r.CreatedAt.Format(time.RFC3339Nano), r.EntityType, r.EntityID, string(r.Metadata))
	return err
}

// reuse points the record at a file that holds the same bytes, where there is one.
func (s *Store) reuse(ctx context.Context, tx *sql.Tx, r *Record) error {
	var path string
	err := tx.QueryRowContext(ctx, `SELECT path FROM artifacts WHERE sha256 = ? LIMIT 1`, r.SHA256).Scan(&path)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if !filepath.IsLocal(path) {
		return nil
	}
	if info, err := os.Lstat(filepath.Join(s.dir, path)); err == nil && info.Mode().IsRegular() && info.Size() == r.Size {
		s.locate(r, path)
	}
	return nil
}

// event is what the record's artifact.created says. Metadata, which a guest chooses,
// stays in the record.
func (r Record) event() event.Event {
	source := event.Source{Kind: "runtime"}
	if r.Capability != "" {
		source = event.Source{Kind: "capability", ID: r.Capability}
	}
	payload, _ := plainjson.Marshal(struct { // strings and a number: cannot fail
		ArtifactID string `json:"artifact_id"`
		Type       string `json:"type"`
		Name       string `json:"name,omitempty"`
		MediaType  string `json:"media_type,omitempty"`
		SHA256     string `json:"sha256"`
		Size       int64  `json:"size_bytes"`
		URI        string `json:"uri"`
		Owner
		TaskID string `json:"task_id,omitempty"`
		RunID  string `json:"run_id,omitempty"`
	}{r.ID, r.Type, r.Name, r.MediaType, r.SHA256, r.Size, r.URI, r.Owner, r.TaskID, r.RunID})
	return event.Event{Type: event.ArtifactCreated, Source: source, Payload: payload}
}

// Get returns the record of an artifact. An id of another form reaches neither the
// database nor a path.
func (s *Store) Get(ctx context.Context, id string) (Record, error) {
	if !idForm.MatchString(id) {
		return Record{}, fault.New(fault.InvalidInput, "artifact_id", "%.64q is no artifact id: art_ and a UUID are wanted", id)
	}
	r, err := s.scan(s.events.DB().QueryRowContext(ctx, `SELECT `+columns+` FROM artifacts WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, fault.New(fault.NotFound, "unknown_artifact", "no artifact %s in session %s", id, s.sessionID).
			WithHint("air artifact ls lists those of the session")
	}
	return r, event.Storage(err, "reading the record of artifact %s", id)
}

// List returns the records of the session, oldest first.
func (s *Store) List(ctx context.Context) ([]Record, error) {
	rows, err := s.events.DB().QueryContext(ctx, `SELECT `+columns+` FROM artifacts ORDER BY n`)
	if err != nil {
		return nil, event.Storage(err, "listing artifacts of session %s", s.sessionID)
	}
	defer rows.Close()
	list := []Record{}
	for rows.Next() {
		r, err := s.scan(rows)
		if err != nil {
			return nil, event.Storage(err, "listing artifacts of session %s", s.sessionID)
		}
		list = append(list, r)
	}
	return list, event.Storage(rows.Err(), "listing artifacts of session %s", s.sessionID)
}

func (s *Store) scan(row interface{ Scan(...any) error }) (Record, error) {
	r := Record{SessionID: s.sessionID}
	var path, created, owner string
	var metadata []byte
	err := row.Scan(&r.ID, &r.TaskID, &r.RunID, &owner, &r.Type, &r.Name, &r.MediaType, &r.SHA256, &r.Size, &path,
		&created, &r.EntityType, &r.EntityID, &metadata)
	if err != nil {
		return Record{}, err
	}
	if len(metadata) > 0 {
		r.Metadata = metadata
	}
	r.URI = "air://" + s.sessionID + "/" + r.ID
	r.Owner = parseOwner(owner)
	s.locate(&r, path)
	r.CreatedAt, err = time.Parse(time.RFC3339Nano, created)
	return r, err
}
