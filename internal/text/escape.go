package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns s as one line that shows what it is: control, bidi, zero-width and blank
// characters other than single spaces, which could hide or reorder what a person
// reads, appear as \u{..}, as do marks that draw over other characters. Many of the same
// appear as one with their number: \u{20}{500}.
func Escape(s string) string {
	if isPlainASCII(s) {
		return s
	}
	p := printer{last: ' '} // a leading space is padding too
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			p.hide(fmt.Sprintf(`\x{%x}`, s[i]))
			p.last = r
		case p.shows(r):
			p.show(r)
		default:
			p.hide(fmt.Sprintf(`\u{%x}`, r))
			p.last = r
		}
		i += size
	}
	p.flush()
	return p.String()
}

// printer writes a text with the characters that cannot be seen spelled out.
type printer struct {
	strings.Builder
	last   rune   // the character before, but for marks
	marks  int    // how many there are on it
	hidden string // spelled out, not yet written
	count  int    // how often
}

// maxMarks is the most that a letter carries in ordinary writing.
const maxMarks = 3

func (p *printer) shows(r rune) bool {
	switch {
	case r == ' ':
		return p.last != ' '
	case unicode.Is(unicode.M, r):
		return Visible(r) && !overlays(r) && unicode.IsLetter(p.last) && p.count == 0 && p.marks < maxMarks
	}
	return Visible(r)
}

func (p *printer) show(r rune) {
	p.flush()
	p.WriteRune(r)
	if unicode.Is(unicode.M, r) {
		p.marks++
		return
	}
	p.last, p.marks = r, 0
}

func (p *printer) hide(spelled string) {
	if spelled != p.hidden {
		p.flush()
	}
	p.hidden = spelled
	p.count++
}

func (p *printer) flush() {
	const few = 4
	if p.count > few {
		fmt.Fprintf(p, "%s{%d}", p.hidden, p.count)
	} else {
		p.WriteString(strings.Repeat(p.hidden, p.count))
	}
	p.hidden, p.count = "", 0
}

func isPlainASCII(s string) bool {
	space := true
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || (c == ' ' && space) {
			return false
		}
		space = c == ' '
	}
	return true
}

// overlays reports whether a mark strikes through or encloses what it stands on.
func overlays(r rune) bool {
	return r >= 0x0334 && r <= 0x0338 || r >= 0x20D0 && r <= 0x20FF || unicode.Is(unicode.Me, r)
}
