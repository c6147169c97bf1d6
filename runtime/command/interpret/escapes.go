package interpret

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// escapesOf says which builtin reads escapes.
type escapesOf int

const (
	escapesOfEcho   escapesOf = iota // \0 begins an octal number
	escapesOfFormat                  // of printf: an octal number begins with any digit, \c is none
	escapesOfB                       // of %b
)

var letterEscapes = map[byte]byte{'a': '\a', 'b': '\b', 'e': 0x1b, 'E': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\'}

// unescaped is a text with its escapes read. stop says that \c ended all output.
func unescaped(text string, of escapesOf) (out string, stop bool) {
	if !strings.Contains(text, `\`) {
		return text, false
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		c := text[i]
		letter, ok := letterEscapes[c]
		switch {
		case ok:
			b.WriteByte(letter)
		case c == 'c' && of != escapesOfFormat:
			return b.String(), true
		case (c == '"' || c == '\'' || c == '?') && of != escapesOfEcho:
			b.WriteByte(c)
		default:
			i += numbered(&b, text[i:], of) - 1
		}
	}
	return b.String(), false
}

// numbered writes the character that digits stand for, and says how long they are.
func numbered(b *strings.Builder, text string, of escapesOf) int {
	c := text[0]
	switch {
	case c == '0' && of != escapesOfFormat:
		n := digits(text[1:], 3, 8)
		return 1 + octet(b, text[1:1+n], 8)
	case c >= '0' && c <= '7' && of != escapesOfEcho:
		return octet(b, text[:digits(text, 3, 8)], 8)
	case c == 'x' || c == 'u' || c == 'U':
		most := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		n := digits(text[1:], most, 16)
		if n == 0 {
			break
		}
		if c == 'x' {
			return 1 + octet(b, text[1:1+n], 16)
		}
		r, _ := strconv.ParseUint(text[1:1+n], 16, 32)
		b.WriteString(string(utf8.AppendRune(nil, rune(r))))
		return 1 + n
	}
	b.WriteByte('\\')
	b.WriteByte(c)
	return 1
}

func octet(b *strings.Builder, text string, base int) int {
	n, _ := strconv.ParseUint("0"+text, base, 16)
	b.WriteByte(byte(n))
	return len(text)
}

func digits(text string, most, base int) (n int) {
	for n < len(text) && n < most {
		if _, err := strconv.ParseUint(text[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	return n
}
