package diagnostics

import (
	"bytes"
	"strings"

	"github.com/aircoding/air/internal/text"
)

// format knows what one tool prints. It is given line after line, and says whether a line
// was one of its own.
type format interface{ line(line string) bool }

// stream cuts one output into lines.
type stream struct {
	*Parser
	formats []format
	dirs    []string // where make says that it works, outermost first
	partial []byte   // the beginning of a line, at most maxLine
	failed  []string // names of tests
}

func newStream(p *Parser) *stream {
	s := &stream{Parser: p, dirs: []string{p.dir}}
	s.formats = []format{
		&goTool{stream: s}, &rust{stream: s}, &typescript{s}, &eslint{stream: s}, &python{stream: s}, &pytest{stream: s},
		&cmake{stream: s}, &makeTool{stream: s}, &ctest{s}, &gtest{stream: s}, &jest{stream: s}, &tap{stream: s}, &compiler{s},
	}
	return s
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	written := len(p)
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			s.partial = append(s.partial, p[:min(len(p), maxLine-len(s.partial))]...)
			return written, nil
		}
		line := p[:end]
		if len(s.partial) > 0 {
			line = append(s.partial, line[:min(len(line), maxLine-len(s.partial))]...)
		}
		s.see(string(line[:min(len(line), maxLine)]))
		s.partial, p = s.partial[:0], p[end+1:]
	}
}

// end sees the last line where it has no end, and lets formats that wait for more give up.
func (s *stream) end() {
	if len(s.partial) > 0 {
		s.see(string(s.partial))
		s.partial = nil
	}
	s.see("")
}

func (s *stream) see(line string) {
	line = plain(strings.TrimSuffix(line, "\r"))
	for _, f := range s.formats {
		if f.line(line) {
			return
		}
	}
}

// plain is a line without the sequences that colour it.
func plain(line string) string {
	if !strings.Contains(line, "\x1b") {
		return line
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(line, "\x1b")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		line = afterSequence(after)
	}
}

// afterSequence skips what follows an escape character: CSI, up to its final byte, or one
// character.
func afterSequence(s string) string {
	if !strings.HasPrefix(s, "[") {
		return s[min(len(s), 1):]
	}
	for i := 1; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return s[i+1:]
		}
	}
	return ""
}

// at is the path as shown of a file that a tool names.
func (s *stream) at(file string) string { return s.relative(s.dirs[len(s.dirs)-1], file) }

// fail notes the name of a failed test, once.
func (s *stream) fail(name string) {
	name = text.Head(strings.TrimSpace(name), maxField)
	if name == "" || s.names[name] || !s.room(len(s.names), len(name)) {
		return
	}
	s.names[name] = true
	s.failed = append(s.failed, name)
}
