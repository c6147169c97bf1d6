package doctor

import (
	"bytes"
	"io"

	"github.com/aircoding/air/internal/text"
)

// maxLine bounds a line of a package manager that is shown, in bytes.
const maxLine = 2 << 10

// plainLines passes on whole lines of a program, indented and without what could steer a
// terminal. A line that is written over, as progress is, becomes lines.
type plainLines struct {
	to   io.Writer
	rest []byte
}

func (p *plainLines) Write(some []byte) (int, error) {
	p.rest = append(p.rest, some...)
	for {
		end := bytes.IndexAny(p.rest, "\r\n")
		if end < 0 && len(p.rest) < maxLine {
			return len(some), nil
		}
		next := end + 1
		if end < 0 {
			end, next = maxLine, maxLine
		}
		if err := p.show(p.rest[:end]); err != nil {
			return 0, err
		}
		p.rest = p.rest[next:]
	}
}

func (p *plainLines) show(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	_, err := io.WriteString(p.to, "  "+text.Line(string(line), maxLine)+"\n")
	return err
}

// flush shows what has no end of a line.
func (p *plainLines) flush() error { return p.show(p.rest) }
