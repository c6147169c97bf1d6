// Package quarantine recognises text that gives instructions to the runtime, or to the
// agent that uses it, about the runtime's policy: what a capability's output has no
// business to contain.
//
// It knows a documented set of patterns, after undoing what hides a text from programs and
// not from models: case, compatible forms, look-alikes, invisible characters, blanks and
// emphasis. It is a net and no wall. What a capability may do does not depend on it; the
// permission engine decides that.
package quarantine

import (
	"context"

	"github.com/aircoding/air/internal/jsonstring"
)

// Text returns the name of the first pattern that a text fits, "" for none. It ends with
// the cause when ctx does.
func Text(ctx context.Context, text string) (pattern string, err error) {
	s := scanner{ctx: ctx}
	s.add(text)
	return s.result()
}

// JSON is Text for all strings of a JSON text in their order, names of members included:
// who reads it reads them together. What is not JSON is taken for a text.
func JSON(ctx context.Context, text []byte) (pattern string, err error) {
	s := scanner{ctx: ctx}
	ok := jsonstring.Each(text, func(l jsonstring.Literal) {
		if s.done() {
			return
		}
		if part, valid := jsonstring.Unquote(text[l.From:l.To]); valid {
			s.add(part)
			s.add("\n\n")
		}
	})
	if !ok && !s.done() {
		s.add(string(text))
	}
	return s.result()
}

const (
	// piece is how much normal text is looked at together.
	piece = 32 << 10
	// overlap is how much of it is looked at again with the next piece; no pattern fits
	// more.
	overlap = 1 << 10
)

// scanner looks at a text of any length in pieces.
type scanner struct {
	ctx     context.Context
	normal  normal
	pattern string
	err     error
}

func (s *scanner) done() bool { return s.pattern != "" || s.err != nil }

func (s *scanner) add(text string) {
	for len(text) > 0 && !s.done() {
		n := cut(text, piece)
		s.normal.write(text[:n])
		text = text[n:]
		if len(s.normal.text) >= piece {
			s.look()
			s.normal.keep(overlap)
		}
	}
}

func (s *scanner) result() (string, error) {
	if !s.done() {
		s.look()
	}
	return s.pattern, s.err
}

func (s *scanner) look() {
	if s.err = context.Cause(s.ctx); s.err == nil {
		s.pattern = find(string(s.normal.text))
	}
}
