// Package diagnostics reads what compilers and test runners print, and lists what they
// found. It goes line by line, and keeps a bounded amount however much there is.
package diagnostics

import (
	"io"
	"path"
	"strings"

	"github.com/aircoding/air/internal/text"
)

// The severities of a Diagnostic.
const (
	Error   = "error"
	Warning = "warning"
	Note    = "note"
)

// Diagnostic is one thing that a tool found.
type Diagnostic struct {
	Tool     string `json:"tool"` // such as cc, for gcc and clang alike
	Severity string `json:"severity"`
	File     string `json:"file,omitempty"`   // relative to the project inside it; of a Go test its name alone, see Code
	Line     int    `json:"line,omitempty"`   // from 1
	Column   int    `json:"column,omitempty"` // from 1
	Message  string `json:"message"`
	Code     string `json:"code,omitempty"` // such as -Wunused, E0308, TS2322 or the name of a rule; of a Go test its package
}

// Tests sums up the tests that ran.
type Tests struct {
	Passed      *int     `json:"passed,omitempty"` // nil where the runner tells only what failed
	Failed      int      `json:"failed"`
	Skipped     int      `json:"skipped"`
	FailedNames []string `json:"failed_names"`
}

// Report is what was found.
type Report struct {
	Diagnostics []Diagnostic `json:"diagnostics"` // as they came, each once
	Errors      int          `json:"errors"`      // how many there are of error severity, also of those left out
	Tests       *Tests       `json:"tests,omitempty"`
	Truncated   bool         `json:"truncated"` // there are more diagnostics or failed tests
}

const (
	maxDiagnostics = 1000
	maxBytes       = 256 << 10 // of all diagnostics and names
	maxMessage     = 1 << 10
	maxField       = 512 // bytes of a path, a code or a test's name
	maxLine        = 64 << 10
	maxNumber      = 1 << 30 // lines, columns and counts beyond are none
)

// Parser reads the output of one command. It is not for several goroutines at once.
type Parser struct {
	root, dir string
	seen      map[Diagnostic]bool
	names     map[string]bool
	list      []Diagnostic
	errors    int
	bytes     int
	tallies   map[string]*tally
	truncated bool
	streams   []*stream
}

// tally counts the tests of one runner.
type tally struct {
	passed, failed, skipped int
	silent                  bool // it does not tell what passed
}

// New returns a parser for a command that runs in dir, of a project at root; both are
// absolute, root is "" where there is no project.
func New(root, dir string) *Parser {
	return &Parser{root: root, dir: dir, seen: map[Diagnostic]bool{}, names: map[string]bool{}, tallies: map[string]*tally{}}
}

// Stream takes one of the command's outputs. Writing to it never fails.
func (p *Parser) Stream() io.Writer {
	s := newStream(p)
	p.streams = append(p.streams, s)
	return s
}

// Report is what was found in all that has been written.
func (p *Parser) Report() Report {
	for _, s := range p.streams {
		s.end()
	}
	r := Report{Diagnostics: p.list, Errors: p.errors, Tests: p.tests(), Truncated: p.truncated}
	if r.Diagnostics == nil {
		r.Diagnostics = []Diagnostic{}
	}
	return r
}

// superseded runners are seen through another one that counts the same tests.
var superseded = map[string]string{"gtest": "ctest", "tap": "node"}

func (p *Parser) tests() *Tests {
	if len(p.tallies) == 0 {
		return nil
	}
	t := Tests{FailedNames: []string{}}
	passed := 0
	known := false
	for runner, counted := range p.tallies {
		if p.tallies[superseded[runner]] != nil {
			continue
		}
		passed += counted.passed
		t.Failed += counted.failed
		t.Skipped += counted.skipped
		known = known || !counted.silent || counted.passed > 0
	}
	if known {
		t.Passed = &passed
	}
	for _, s := range p.streams {
		t.FailedNames = append(t.FailedNames, s.failed...)
	}
	return &t
}

func (p *Parser) tally(runner string) *tally {
	if p.tallies[runner] == nil {
		p.tallies[runner] = &tally{}
	}
	return p.tallies[runner]
}

// add notes a diagnostic, once.
func (p *Parser) add(d Diagnostic) {
	d.Message = text.Head(strings.TrimSpace(d.Message), maxMessage)
	d.File, d.Code = text.Head(d.File, maxField), text.Head(d.Code, maxField)
	if d.Message == "" || p.seen[d] {
		return
	}
	if d.Severity == Error {
		p.errors++
	}
	if !p.room(len(p.list), len(d.Message)+len(d.File)+len(d.Code)) {
		return
	}
	p.seen[d] = true
	p.list = append(p.list, d)
}

// room reports whether one more of so many fits, with its bytes.
func (p *Parser) room(count, bytes int) bool {
	if count >= maxDiagnostics || p.bytes+bytes > maxBytes {
		p.truncated = true
		return false
	}
	p.bytes += bytes
	return true
}

// relative is a path as shown: relative to the project inside it, else absolute. dir is
// where the tool that named it ran.
func (p *Parser) relative(dir, file string) string {
	if file == "" || strings.HasPrefix(file, "<") { // <stdin>, <built-in>
		return file
	}
	if !path.IsAbs(file) {
		file = dir + "/" + file
	}
	file = path.Clean(file)
	if p.root == "" {
		return file
	}
	if inside, ok := strings.CutPrefix(file, strings.TrimSuffix(p.root, "/")+"/"); ok {
		return inside
	}
	return file
}
