package event

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/aircoding/air/internal/home"
)

// What a sum is made for comes first in it, so that no sum can stand in for another.
const (
	forEvent = "event\x00"
	forStart = "start\x00"
	forHead  = "head\x00"
)

type mac [sha256.Size]byte

func (k Key) sum(purpose string, parts ...[]byte) (m mac) {
	h := hmac.New(sha256.New, k[:])
	h.Write([]byte(purpose))
	for _, p := range parts {
		h.Write(p)
	}
	h.Sum(m[:0])
	return m
}

// link is one place in a chain: the number of an event and its MAC.
type link struct {
	seq int64
	mac mac
}

// next is the link of an event that follows l. The parts around the event have fixed
// lengths, so two different inputs never look the same.
func (l link) next(k Key, body []byte) link {
	return link{l.seq + 1, k.event(l.mac, body, l.seq+1)}
}

func (k Key) event(previous mac, body []byte, seq int64) mac {
	return k.sum(forEvent, previous[:], body, bigEndian(seq))
}

func bigEndian(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func (l link) String() string { return fmt.Sprintf("event %d", l.seq) }

// tip is the link that the next event follows: the last event's where it and the head
// agree. Where they do not, the chain goes on in a way that Verify shows for ever, as
// otherwise the next append would wipe out the traces of what was removed.
func (s *Store) tip(ctx context.Context, tx *sql.Tx) (link, error) {
	head, sealed, err := s.head.read()
	if err != nil {
		return link{}, err
	}
	last, err := s.lastLink(ctx, tx)
	switch {
	case err != nil:
		return link{}, err
	case last.seq == 0 && !sealed: // a new store
		return s.head.start(), s.head.create()
	case !sealed:
		return link{seq: last.seq}, nil // a MAC of zeros follows nothing
	case last.seq <= head.seq:
		return head, nil // the same, or events are missing: a gap, or a MAC that does not fit, stays
	}
	follows, err := s.follows(ctx, tx, head, last)
	if err != nil || follows {
		return last, err
	}
	return link{seq: last.seq}, nil
}

// lastLink is the link of the last stored event, the zero link when there is none.
func (s *Store) lastLink(ctx context.Context, tx *sql.Tx) (link, error) {
	var l link
	var sum []byte
	err := tx.StmtContext(ctx, s.last).QueryRowContext(ctx).Scan(&l.seq, &sum)
	if errors.Is(err, sql.ErrNoRows) {
		return link{}, nil
	}
	copy(l.mac[:], sum)
	return l, err
}

// follows reports whether the events after the head, up to the last, are a chain that
// begins at it.
func (s *Store) follows(ctx context.Context, tx *sql.Tx, head, last link) (bool, error) {
	rows, err := tx.QueryContext(ctx, `SELECT body FROM events WHERE seq > ? ORDER BY seq`, head.seq)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	at := head
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return false, err
		}
		at = at.next(s.key, body)
	}
	return at == last, rows.Err()
}

// catchUp brings a head up to date that a crash left behind.
func (s *Store) catchUp(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, err := home.Lock(ctx, s.head.path)
	if err != nil {
		return err
	}
	defer unlock()
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	head, sealed, err := s.head.read()
	if err != nil || !sealed {
		return err
	}
	last, err := s.lastLink(ctx, tx)
	if err != nil || last.seq <= head.seq {
		return err
	}
	follows, err := s.follows(ctx, tx, head, last)
	if err != nil || !follows {
		return err
	}
	return s.head.write(last)
}
