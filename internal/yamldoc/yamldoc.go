// Package yamldoc reads documents that people write, in YAML or JSON, so strictly that
// a mistake is an error with its line and never a setting that is silently ignored.
package yamldoc

import (
	"fmt"

	"github.com/aircoding/air/internal/canon"
)

const (
	maxBytes = 256 << 10
	maxDepth = 32
	maxJSON  = 4 << 20 // locks are written by programs and may be long
	// maxPointers bounds what the pointers of all values take together: a long key
	// above many values would cost the square of the document's size.
	maxPointers = 64 << 20
)

// Lines maps the JSON pointer of each value in a document to its line.
type Lines map[string]int

// Error is a mistake in a document.
type Error struct {
	Line    int // 0 when unknown
	Pointer string
	Reason  string

	mistyped bool
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
}

// Decode reads a YAML document into a struct, and returns it as JSON with its lines. A
// key that the struct does not have is an error that names the nearest one it has.
func Decode(text []byte, into any) (doc []byte, lines Lines, err error) {
	doc, lines, err = ToJSON(text)
	if err != nil {
		return nil, nil, err
	}
	return doc, lines, decode(doc, lines, into)
}

// DecodeJSON reads a JSON document as strictly.
func DecodeJSON(text []byte, into any) error {
	if err := canon.Check(text, canon.Limits{Bytes: maxJSON, Strict: true}); err != nil {
		return &Error{Reason: err.Error()}
	}
	lines, err := LinesOf(text)
	if err != nil {
		return err
	}
	return decode(text, lines, into)
}
