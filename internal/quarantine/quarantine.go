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
	"strings"

	"github.com/aircoding/air/internal/jsonstring"
	"github.com/aircoding/air/internal/text"
)

// Finding is what a text has that fits a pattern.
type Finding struct {
	Pattern string // its name, "" where none fits
	Text    string // the part that fits, in the form that patterns are written for
}

// JSON returns the first pattern that the strings of a JSON text fit: all of them in their
// order, names of members included, as who reads it reads them together. What is not JSON
// is looked at as a text, too. It ends with the cause when ctx does.
func JSON(ctx context.Context, document []byte) (found Finding, err error) {
	err = scan(ctx, document, func(text string) bool {
		found = theSet().find(text)
		return found.Pattern != ""
	})
	return found, err
}

// In reports whether a JSON text, looked at as by JSON, has what was found in another.
func (f Finding) In(ctx context.Context, document []byte) (has bool, err error) {
	err = scan(ctx, document, func(text string) bool {
		has = strings.Contains(onOneLine(text), f.Text)
		return has
	})
	return has, err
}

const (
	// piece is how much normal text is looked at together.
	piece = 32 << 10
	// overlap is how much of it is looked at again with the next piece.
	overlap = around + nearBytes
)

// scanner looks at a text of any length in pieces.
type scanner struct {
	ctx    context.Context
	normal normal
	look   func(text string) (done bool)
	done   bool
	err    error
}

func scan(ctx context.Context, document []byte, look func(text string) (done bool)) error {
	s := scanner{ctx: ctx, look: look}
	jsonstring.Each(document, func(l jsonstring.Literal) {
		if s.done {
			return
		}
		if part, valid := jsonstring.Unquote(document[l.From:l.To]); valid {
			s.add(part)
			s.add("\n\n")
		}
	})
	if !s.done && !json.Valid(document) {
		s.add(string(document))
	}
	s.piece()
	return s.err
}

func (s *scanner) add(part string) {
	for len(part) > 0 && !s.done {
		head := text.Head(part, piece)
		s.normal.write(head)
		part = part[len(head):]
		if len(s.normal.text) >= piece {
			s.piece()
			s.normal.keep(overlap)
		}
	}
}

// piece looks at what there is.
func (s *scanner) piece() {
	if s.done {
		return
	}
	if s.err = context.Cause(s.ctx); s.err == nil {
		s.normal.squeeze()
	}
	s.done = s.err != nil || s.look(string(s.normal.text))
}
