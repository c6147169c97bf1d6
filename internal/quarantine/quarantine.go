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
	"encoding/json"

	"github.com/aircoding/air/internal/jsonstring"
	"github.com/aircoding/air/internal/text"
)

// JSON returns the name of the first pattern that the strings of a JSON text fit, "" for
// none: all of them in their order, names of members included, as who reads it reads them
// together. What is not JSON is looked at as a text, too. It ends with the cause when ctx
// does.
func JSON(ctx context.Context, document []byte) (pattern string, err error) {
	s := scanner{ctx: ctx}
	jsonstring.Each(document, func(l jsonstring.Literal) {
		if s.done() {
			return
		}
		if part, valid := jsonstring.Unquote(document[l.From:l.To]); valid {
			s.add(part)
			s.add("\n\n")
		}
	})
	if !s.done() && !json.Valid(document) {
		s.add(string(document))
	}
	return s.result()
}

const (
	// piece is how much normal text is looked at together.
	piece = 32 << 10
	// overlap is how much of it is looked at again with the next piece.
	overlap = around + nearBytes
)

// scanner looks at a text of any length in pieces.
type scanner struct {
	ctx     context.Context
	normal  normal
	pattern string
	err     error
}

func (s *scanner) done() bool { return s.pattern != "" || s.err != nil }

func (s *scanner) add(part string) {
	for len(part) > 0 && !s.done() {
		head := text.Head(part, piece)
		s.normal.write(head)
		part = part[len(head):]
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
		s.normal.squeeze()
		s.pattern = theSet().find(string(s.normal.text))
	}
}
