// Package jsonstring visits the strings of a JSON text without decoding the rest of it: in
// time linear in its length, whatever its depth.
package jsonstring

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/aircoding/air/internal/plainjson"
)

// Literal is a string of a JSON text, as it is written there.
type Literal struct {
	From, To int  // its place, quotes included
	Name     bool // it names a member of an object
}

// Each visits the strings in the order of the text, of a text that is no JSON those up to
// one that ends nowhere.
func Each(text []byte, visit func(Literal)) {
	for at := 0; ; {
		start := bytes.IndexByte(text[at:], '"')
		if start < 0 {
			return
		}
		from := at + start
		to := end(text, from)
		if to < 0 {
			return
		}
		visit(Literal{from, to, isName(text[to:])})
		at = to
	}
}

// end is the place behind the string that begins at from, -1 where there is none.
func end(text []byte, from int) int {
	quote := from
	for at := from + 1; ; {
		if quote < at {
			next := bytes.IndexByte(text[at:], '"')
			if next < 0 {
				return -1
			}
			quote = at + next
		}
		escape := bytes.IndexByte(text[at:quote], '\\')
		if escape < 0 {
			return quote + 1
		}
		if at += escape + 2; at > len(text) {
			return -1
		}
	}
}

func isName(rest []byte) bool {
	for _, c := range rest {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == ':'
		}
	}
	return false
}

// Unquote is what the literal, quotes included, stands for.
func Unquote(literal []byte) (string, bool) {
	if len(literal) < 2 {
		return "", false
	}
	if bytes.IndexByte(literal, '\\') < 0 {
		return string(literal[1 : len(literal)-1]), true
	}
	return unescape(literal[1 : len(literal)-1])
}

func unescape(text []byte) (string, bool) {
	s := make([]byte, 0, len(text))
	for {
		n := bytes.IndexByte(text, '\\')
		if n < 0 {
			return string(append(s, text...)), true
		}
		s = append(s, text[:n]...)
		if text = text[n+1:]; len(text) == 0 {
			return "", false
		}
		c := text[0]
		text = text[1:]
		if c != 'u' {
			plain, ok := escaped(c)
			if !ok {
				return "", false
			}
			s = append(s, plain)
			continue
		}
		r := unit(text)
		if r < 0 {
			return "", false
		}
		text = text[4:]
		if utf16.IsSurrogate(r) {
			if pair := utf16.DecodeRune(r, second(text)); pair != utf8.RuneError {
				r, text = pair, text[6:]
			}
		}
		s = utf8.AppendRune(s, r)
	}
}

// escaped is the character for which a backslash and c stand.
func escaped(c byte) (plain byte, ok bool) {
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return "\"\\/\b\f\n\r\t"[i], true
	}
	return 0, false
}

// unit is the number that four hexadecimal digits write, -1 where there are none.
func unit(text []byte) rune {
	if len(text) < 4 {
		return -1
	}
	n, err := strconv.ParseUint(string(text[:4]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// second is the escaped half of a pair of surrogates that a text may begin with.
func second(text []byte) rune {
	if !bytes.HasPrefix(text, []byte(`\u`)) {
		return -1
	}
	return unit(text[2:])
}

// Quote is the literal of a string, quotes included.
func Quote(s string) []byte {
	quoted, err := plainjson.Marshal(s)
	if err != nil {
		return []byte(`""`) // a string always encodes
	}
	return quoted
}
