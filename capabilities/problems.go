package capabilities

import (
	"fmt"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/internal/yamldoc"
)

// Problem is one thing that is wrong in a document of ours: a manifest, settings, a lock.
type Problem struct {
	Pointer string `json:"pointer"` // RFC 6901; "" is the whole document
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

func (p Problem) String() string {
	at := p.Pointer
	if at == "" {
		at = "document"
	}
	if p.Line > 0 {
		return fmt.Sprintf("line %d: %s: %s", p.Line, at, p.Message)
	}
	return at + ": " + p.Message
}

// InvalidError lists what is wrong in such a document, the first twenty problems of it.
type InvalidError struct {
	Problems []Problem
	More     int // how many further ones there are
}

func (e *InvalidError) Error() string {
	lines := make([]string, 0, len(e.Problems)+1)
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

const (
	maxProblems = 20
	maxMessage  = 500
)

// problems collects what is wrong, one problem for each place: the first that is
// found there, which is the plainest.
type problems struct {
	list []Problem
	seen map[string]bool
	more int
}

func (p *problems) add(at, format string, args ...any) {
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	if p.seen[at] {
		return
	}
	p.seen[at] = true
	if len(p.list) == maxProblems {
		p.more++
		return
	}
	p.list = append(p.list, Problem{Pointer: text.Cut(at, 300), Message: text.Cut(fmt.Sprintf(format, args...), maxMessage)})
}

// addLocated adds a text that begins with the pointer of what it is about, or with none.
func (p *problems) addLocated(message string) {
	at, what, found := strings.Cut(message, ": ")
	if !found || !strings.HasPrefix(at, "/") {
		at, what = "", message
	}
	p.add(at, "%s", what)
}

// asError is what was collected, for a document of ours of which no lines are known.
func (p *problems) asError() error {
	if len(p.list) == 0 {
		return nil
	}
	return &InvalidError{Problems: p.list, More: p.more}
}

// err is what was collected as one error, nil for nothing. Above the document, of which
// lines are the lines, stand further ones in its file.
func (p *problems) err(lines yamldoc.Lines, above int) error {
	if len(p.list) == 0 {
		return nil
	}
	for i, problem := range p.list {
		if line := lines[problem.Pointer]; line > 0 {
			p.list[i].Line = line + above
		}
	}
	invalid := &InvalidError{Problems: p.list, More: p.more}
	return fault.New(fault.InvalidInput, "bad_manifest", "invalid manifest: %w", invalid).
		With("problems", p.list)
}
