// Package text makes text from outside safe to show to a person.
package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// blanks are drawn as nothing although Unicode counts them as letters, marks or symbols.
var blanks = []rune{'\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2800', '\u3164', '\uffa0'}

// Visible reports whether a character leaves ink of its own and takes part in nothing
// else: it is no control, format, bidi or zero-width character, no variation selector
// and no blank but the space.
func Visible(r rune) bool {
	return unicode.IsPrint(r) && !slices.Contains(blanks, r) && !unicode.Is(unicode.Variation_Selector, r)
}

// Printable keeps lines and tabs and puts U+FFFD where a character could steer the
// terminal or hide what stands there.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', Visible(r):
			return r
		case unicode.Is(unicode.Variation_Selector, r):
			return -1 // it only chooses between two drawings of what is in front of it
		}
		return utf8.RuneError
	}, s)
}

// Line returns s as one line of at most limit characters: what cannot be seen is left
// out, and no run of blanks pushes text out of sight.
func Line(s string, limit int) string {
	var b strings.Builder
	blank, count := false, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			blank = true
			continue
		case r == utf8.RuneError || !Visible(r):
			continue
		}
		if blank && count > 0 {
			b.WriteByte(' ')
			count++
		}
		if blank = false; count >= limit {
			return strings.TrimSuffix(b.String(), " ") + "…"
		}
		b.WriteRune(r)
		count++
	}
	return b.String()
}

// Head returns at most the first n bytes of s, cut between two characters where there are
// any.
func Head(s string, n int) string {
	if n = max(n, 0); len(s) <= n {
		return s
	}
	for at := n; at >= 0 && n-at < utf8.UTFMax; at-- {
		if utf8.RuneStart(s[at]) {
			return s[:at]
		}
	}
	return s[:n]
}

// Cut is Head that says with an ellipsis, beyond the n bytes, that something is missing.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Head(s, n) + "…"
}
