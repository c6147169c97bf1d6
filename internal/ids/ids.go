// Package ids makes the identifiers that AIR hands out.
package ids

import "github.com/google/uuid"

// New returns a UUIDv7 (RFC 9562): unique, and ordered by the time it was made.
func New() string { return uuid.Must(uuid.NewV7()).String() }
