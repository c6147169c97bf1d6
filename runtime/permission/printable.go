package permission

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns text that shows what it is: control, bidi, zero-width and blank
// characters other than single spaces, which could hide or reorder what a person
// reads, appear as \u{..}.
func Printable(text string) string {
	if isPlainASCII(text) {
		return text
	}
	var b strings.Builder
	space := true // a leading space is padding too
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x{%x}`, text[i])
		case r == ' ' && !space, r != ' ' && visible(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		space = r == ' '
	}
	return b.String()
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

// shorten cuts the middle out of a long text, so that both ends stay on the screen.
func shorten(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	half := limit / 2
	return fmt.Sprintf("%s … (%d characters left out) … %s", string(runes[:half]), len(runes)-2*half, string(runes[len(runes)-half:]))
}
