// Package ids makes the identifiers that AIR hands out.
package ids

import (
	"time"

	"github.com/google/uuid"
)

// Pattern is the regular expression of what New returns, without anchors.
const Pattern = `[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`

// New returns a UUIDv7 (RFC 9562): unique, and ordered by the time it was made.
func New() string { return uuid.Must(uuid.NewV7()).String() }

// Time is when an id was made, to the millisecond; the zero time for any other text.
func Time(id string) time.Time {
	u, err := uuid.Parse(id)
	if err != nil || u.Version() != 7 {
		return time.Time{}
	}
	return time.Unix(u.Time().UnixTime()).UTC()
}
