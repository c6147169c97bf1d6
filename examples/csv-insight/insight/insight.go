// Package insight describes CSV files in one pass and in bounded memory. It reads what
// it is given and touches nothing else, so it runs the same in a module and natively.
package insight

import "fmt"

// The bounds within which a result is exact or a file is taken at all. Together they
// keep a profile below 30 MiB: half of what a module has by default, as Go's garbage
// collector needs room.
const (
	maxColumns     = 256
	maxRecordBytes = 1 << 20
	defaultMaxRows = 1_000_000
	trackedValues  = 10_000  // distinct values of one column that are counted
	trackedBytes   = 6 << 20 // distinct values of all columns together
	sampledNumbers = 10_000  // numbers of one column kept for quantiles
	allSamples     = 500_000 // numbers of all columns together
	maxGroups      = 10_000
	shownRunes     = 200 // of a text in a result
)

// Layout says how to read a file. The zero value is the usual case.
type Layout struct {
	Delimiter  string   // one character; "" takes what the first line has most of: , ; tab |
	NoHeader   bool     // the first record is data: columns are called column_1, column_2, …
	NullValues []string // fields that stand for "no value"; nil means the empty field
	MaxRows    int      // 0 means 1,000,000
}

// Error is a reason why a file or a question cannot be taken.
type Error struct{ Code, Message string }

func (e *Error) Error() string { return e.Message }

func fail(code, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}
