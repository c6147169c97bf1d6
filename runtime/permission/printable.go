package permission

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns text that shows what it is: control, bidi, zero-width and blank
// characters other than single spaces, which could hide or reorder what a person
// reads, appear as \u{..}, as do marks that draw over other characters. Many of the same
// appear as one with their number: \u{20}{500}.
func Printable(text string) string {
	if isPlainASCII(text) {
		return text
	}
	p := printer{last: ' '} // a leading space is padding too
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			p.hide(fmt.Sprintf(`\x{%x}`, text[i]))
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
		return visible(r) && !overlays(r) && unicode.IsLetter(p.last) && p.count == 0 && p.marks < maxMarks
	}
	return visible(r)
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

func isPlainASCII(text string) bool {
	space := true
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || (c == ' ' && space) {
			return false
		}
		space = c == ' '
	}
	return true
}

// visible reports whether a character leaves ink of its own and takes part in nothing
// else. unicode.IsGraphic counts some blank letters and the selectors as graphic.
func visible(r rune) bool {
	switch {
	case r >= 0x115F && r <= 0x1160, r == 0x3164, r == 0xFFA0, r == 0x2800: // blank letters
		return false
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF, r == 0x034F, r >= 0x180B && r <= 0x180F, r == 0x17B4, r == 0x17B5:
		return false
	}
	return unicode.IsPrint(r)
}

// overlays reports whether a mark strikes through or encloses what it stands on.
func overlays(r rune) bool {
	return r >= 0x0334 && r <= 0x0338 || r >= 0x20D0 && r <= 0x20FF || unicode.Is(unicode.Me, r)
}

// shorten cuts the middle out of a long text, so that both ends stay on the screen.
func shorten(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	half := limit / 2
	return fmt.Sprintf("%s … (%d characters left out) … %s", string(runes[:half]), len(runes)-2*half, string(runes[len(runes)-half:]))
}
