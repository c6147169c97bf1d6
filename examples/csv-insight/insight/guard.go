package insight

import (
	"errors"
	"io"
)

const readAhead = 64 << 10

var errTooLong = errors.New("record too long")

// A guard ends a record that does not end: a quote that is never closed would take the
// rest of the file into memory.
type guard struct {
	r    io.Reader
	left int
}

func (g *guard) allow(n int) { g.left = n }

func (g *guard) Read(p []byte) (int, error) {
	if g.left <= 0 {
		return 0, errTooLong
	}
	n, err := g.r.Read(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}
