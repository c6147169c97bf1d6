package fs

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"

	"github.com/aircoding/air/internal/mediatype"
	"github.com/aircoding/air/internal/stoppable"
)

// cut is a run of whole lines out of a file.
type cut struct {
	text  []byte
	count int  // of lines
	more  bool // the file goes on
	part  bool // of one line, which is longer
}

func (c cut) isText() bool { return bytes.IndexByte(c.text, 0) < 0 && utf8.Valid(c.text) }

// cutLines skips lines and returns the following ones, at most limit and maxInline
// bytes of them. Only a first line that is longer by itself is cut, between two
// characters. It holds no more than it returns, and a block.
func cutLines(ctx context.Context, content io.Reader, skip, limit int) (cut, error) {
	content = stoppable.Reader(ctx, content)
	begun, err := skipLines(content, skip)
	if err != nil {
		return cut{}, err
	}
	text, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(begun), content), maxInline+1))
	if err != nil {
		return cut{}, err
	}
	return firstLines(text, limit), nil
}

// blockSize is how much of a file is read at a time, in bytes.
const blockSize = 256 << 10

// skipLines passes over lines, and returns what it has read behind them.
func skipLines(content io.Reader, skip int) ([]byte, error) {
	if skip == 0 {
		return nil, nil
	}
	block := make([]byte, blockSize)
	for {
		n, err := io.ReadFull(content, block)
		lines := bytes.Count(block[:n], []byte{'\n'})
		if lines >= skip {
			return block[afterLine(block[:n], skip):n], nil
		}
		skip -= lines
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil, nil
		default:
			return nil, err
		}
	}
}

// afterLine is where the nth line ends, which is there.
func afterLine(text []byte, n int) int {
	at := 0
	for range n {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at
}

// firstLines takes at most limit lines, and maxInline bytes, out of the beginning of a
// text, which is all of it or longer than that.
func firstLines(text []byte, limit int) cut {
	whole := text[:min(len(text), maxInline)]
	lines := bytes.Count(whole, []byte{'\n'})
	switch {
	case lines >= limit:
		end := afterLine(whole, limit)
		return cut{text: text[:end], count: limit, more: end < len(text)}
	case len(text) == len(whole):
		if len(text) > 0 && text[len(text)-1] != '\n' {
			lines++
		}
		return cut{text: text, count: lines}
	case lines > 0:
		return cut{text: text[:bytes.LastIndexByte(whole, '\n')+1], count: lines, more: true}
	}
	return cut{text: mediatype.WholeRunes(whole), count: 1, more: true, part: true}
}
