package session

import (
	"context"
	"database/sql"
	"strings"

	"github.com/aircoding/air/runtime/event"
)

const flowSchema = `
CREATE TABLE IF NOT EXISTS credentials (
	chain  TEXT NOT NULL, -- ids of capabilities, outermost first; nothing: the person's agent
	target TEXT NOT NULL,
	PRIMARY KEY (chain, target)
) WITHOUT ROWID;
`

// Noted is a credential that a chain of callers has used.
type Noted struct {
	Chain  []string `json:"chain"` // ids of capabilities, outermost first; none: the person's agent
	Target string   `json:"target"`
}

// NoteCredentials records that a chain of capabilities, outermost first, has used a
// credential: the canonical path of a file, or secret(NAME). The note lasts as long as
// the session, in all processes.
func (s *Session) NoteCredentials(ctx context.Context, chain []string, target string) error {
	return s.Events.Change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO credentials (chain, target) VALUES (?, ?) ON CONFLICT DO NOTHING`, chainKey(chain), target)
		return err
	})
}

// Credentials returns, sorted, what was noted for the chain or for those above it: for
// any beginning of the chain, the empty one included.
func (s *Session) Credentials(ctx context.Context, chain []string) ([]string, error) {
	var keys []any
	for n := range len(chain) + 1 {
		keys = append(keys, chainKey(chain[:n]))
	}
	query := `SELECT DISTINCT target FROM credentials WHERE chain IN (?` + strings.Repeat(`, ?`, len(chain)) + `) ORDER BY target`
	rows, err := s.Events.DB().QueryContext(ctx, query, keys...)
	if err != nil {
		return nil, event.Storage(err, "reading which credentials session %s used", s.ID)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var target string
		if err := rows.Scan(&target); err != nil {
			return nil, event.Storage(err, "reading which credentials session %s used", s.ID)
		}
		all = append(all, target)
	}
	return all, event.Storage(rows.Err(), "reading which credentials session %s used", s.ID)
}

// AllCredentials returns what was noted for every chain.
func (s *Session) AllCredentials(ctx context.Context) ([]Noted, error) {
	rows, err := s.Events.DB().QueryContext(ctx, `SELECT chain, target FROM credentials ORDER BY chain, target`)
	if err != nil {
		return nil, event.Storage(err, "reading which credentials session %s used", s.ID)
	}
	defer rows.Close()
	all := []Noted{}
	for rows.Next() {
		var key, target string
		if err := rows.Scan(&key, &target); err != nil {
			return nil, event.Storage(err, "reading which credentials session %s used", s.ID)
		}
		all = append(all, Noted{keyChain(key), target})
	}
	return all, event.Storage(rows.Err(), "reading which credentials session %s used", s.ID)
}

// chainKey joins ids, which have no slash.
func chainKey(chain []string) string { return strings.Join(chain, "/") }

func keyChain(key string) []string {
	if key == "" {
		return []string{}
	}
	return strings.Split(key, "/")
}
