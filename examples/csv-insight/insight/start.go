package insight

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

func skipMark(b *bufio.Reader) error {
	start, err := b.Peek(3)
	if string(start) == "\ufeff" {
		_, err = b.Discard(3)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// delimiterOf returns the one that was asked for, or the candidate that the first line
// has most of outside quotes.
func delimiterOf(b *bufio.Reader, asked string) (rune, error) {
	if asked == "" {
		return sniff(b)
	}
	r, size := utf8.DecodeRuneInString(asked)
	if size != len(asked) || r == utf8.RuneError || strings.ContainsRune("\"\r\n\x00", r) {
		return 0, fail("bad_delimiter", "the delimiter %q is not one character that may separate fields", asked)
	}
	return r, nil
}

func sniff(b *bufio.Reader) (rune, error) {
	start, err := b.Peek(readAhead)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return 0, err
	}
	counts, quoted := map[rune]int{}, false
	for _, r := range string(start) {
		if r == '"' {
			quoted = !quoted
		}
		if r == '\n' && !quoted {
			break
		}
		if !quoted {
			counts[r]++
		}
	}
	best := ','
	for _, r := range ",;\t|" {
		if counts[r] > counts[best] {
			best = r
		}
	}
	return best, nil
}
