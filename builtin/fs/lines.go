package fs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/aircoding/air/internal/mediatype"
)

// cut is a run of whole lines out of a file.
type cut struct {
	text  []byte
	count int  // of lines
	more  bool // the file goes on
}

func (c cut) isText() bool { return bytes.IndexByte(c.text, 0) < 0 && utf8.Valid(c.text) }

// cutLines skips lines and returns the following ones, at most limit and maxInline
// bytes of them. Only a first line that is longer by itself is cut, between two
// characters. It holds no more than it returns.
func cutLines(ctx context.Context, content io.Reader, skip, limit int) (cut, error) {
	l := lineReader{bufio.NewReaderSize(content, 64<<10)}
	for range skip {
		if err := l.skip(ctx); err != nil {
			return cut{}, ignoreEOF(err)
		}
	}
	var c cut
	for c.count < limit {
		start := len(c.text)
		err := l.appendLine(ctx, &c.text)
		if len(c.text) > maxInline {
			return c.shorten(start), nil
		}
		if len(c.text) > start {
			c.count++
		}
		if err != nil {
			return c, ignoreEOF(err)
		}
	}
	_, err := l.in.Peek(1)
	c.more = err == nil
	return c, ignoreEOF(err)
}

// shorten takes back the line from start on, which was too much.
func (c cut) shorten(start int) cut {
	c.more = true
	if start > 0 {
		c.text = c.text[:start]
		return c
	}
	c.text, c.count = mediatype.WholeRunes(c.text[:maxInline]), 1
	return c
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

type lineReader struct{ in *bufio.Reader }

// skip passes over one line; io.EOF when there is none after it.
func (l lineReader) skip(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, err := l.in.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// appendLine appends one line with its line end, or as much of it as shows that it is
// too long.
func (l lineReader) appendLine(ctx context.Context, text *[]byte) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		piece, err := l.in.ReadSlice('\n')
		*text = append(*text, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(*text) > maxInline {
			return err
		}
	}
}
