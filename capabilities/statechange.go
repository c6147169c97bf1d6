package capabilities

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/plainjson"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/event"
)

const oneRow = ` WHERE id = ? AND digest = ? AND trust = ?`

// errSame ends a transaction that would tell what was told already, or what is no longer so.
var errSame = errors.New("the state is this already, or another")

// found records what AIR itself found out about a row that it read. It never touches the
// consent, and where that is another one by now nothing is recorded.
func (l *Lifecycle) found(ctx context.Context, eventType string, r row, more map[string]any) error {
	err := l.record(ctx, eventType, r, more, func(tx *sql.Tx) error {
		return changedOne(tx.Exec(`UPDATE capability_consent SET state = ?, reason = ?, changed = ?, updated_at = ?`+oneRow+
			` AND enabled = ? AND consented_at = ? AND NOT (state = ? AND reason = ?)`,
			r.State, r.Reason, r.Changed, now(), r.ID, r.Digest, r.Place, r.Enabled, r.At, r.State, r.Reason))
	})
	if errors.Is(err, errSame) {
		return nil
	}
	return err
}

func changedOne(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return errSame
}

// sight makes the row of what was not seen in this project before, or was removed since.
func (r row) sight(tx *sql.Tx) error {
	return changedOne(tx.Exec(`INSERT INTO capability_consent (id, digest, trust, version, state, reason, changed, updated_at) VALUES (?, ?, ?, ?, ?, '', 0, ?)
		ON CONFLICT (id, digest, trust) DO UPDATE SET version = excluded.version, state = excluded.state, reason = '', changed = 0, updated_at = excluded.updated_at
		WHERE state = ? AND enabled = 0`, r.ID, r.Digest, r.Place, r.Version, r.State, now(), removed))
}

// agree puts the digest of r in the place of what was enabled: the one change that enables.
func (r row) agree(tx *sql.Tx) error {
	from, err := plainjson.Marshal(r.Origin)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE capability_consent SET enabled = 0, state = ? WHERE id = ? AND enabled = 1`, Updated, r.ID); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO capability_consent (`+rowColumns+`, updated_at) VALUES (?, ?, ?, ?, ?, '', 0, 1, ?, ?, ?, ?)
		ON CONFLICT (id, digest, trust) DO UPDATE SET version = excluded.version, state = excluded.state, reason = '', changed = 0,
		enabled = 1, consented_at = excluded.consented_at, signer = excluded.signer, origin = excluded.origin, updated_at = excluded.updated_at`,
		r.ID, r.Digest, r.Place, r.Version, r.State, r.At, r.Signer, string(from), now())
	return err
}

// disable ends the consent to r, if it is in force.
func (r row) disable(tx *sql.Tx) error {
	return changedOne(tx.Exec(`UPDATE capability_consent SET enabled = 0, state = ?, reason = ?, updated_at = ?`+oneRow+` AND enabled = 1`,
		r.State, r.Reason, now(), r.ID, r.Digest, r.Place))
}

// forget leaves nothing of a row but that a person once consented to it, so that an older
// version does not come back unnoticed.
func (r row) forget(tx *sql.Tx) error {
	if _, err := tx.Exec(`DELETE FROM capability_consent`+oneRow+` AND consented_at = '' AND enabled = 0`, r.ID, r.Digest, r.Place); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE capability_consent SET enabled = 0, changed = 0, reason = '', state = ?`+oneRow, removed, r.ID, r.Digest, r.Place)
	return err
}

const timeForm = "2006-01-02T15:04:05.000000000Z"

// now is the time in UTC, of a width that does not change: sorted as texts, times are in
// their order.
func now() string { return time.Now().UTC().Format(timeForm) }

// after is the time of a consent that follows those in rows: a clock that was put back
// changes nothing of their order.
func after(rows []row) string {
	at := time.Now().UTC()
	for _, r := range rows {
		if last, err := time.Parse(timeForm, r.At); err == nil && !at.After(last) {
			at = last.Add(time.Nanosecond)
		}
	}
	return at.Format(timeForm)
}

// recordFailure records that a capability cannot be used and returns what it was given, so that
// callers end with it.
func (l *Lifecycle) recordFailure(ctx context.Context, r row, cause error) error {
	if ctx.Err() != nil {
		return cause // the caller went away: that is no fault of the capability's
	}
	return errors.Join(cause, l.markFailed(ctx, r, cause))
}

// markFailed makes failed the state, with an event once for each reason.
func (l *Lifecycle) markFailed(ctx context.Context, r row, cause error) error {
	why := fault.From(cause)
	return l.found(ctx, event.CapabilityFailed, r.failed(cause), map[string]any{"kind": why.Kind, "code": why.Code})
}

func (r row) failed(cause error) row {
	r.State, r.Reason, r.Changed = Failed, text.Line(cause.Error(), 500), fault.From(cause).Code == codeChanged
	return r
}
