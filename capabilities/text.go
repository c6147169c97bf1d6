package capabilities

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes a publisher's text safe to show: one line, no control, format, bidi or
// invisible characters, no runs of blanks that push text out of sight, at most limit
// characters.
func clean(text string, limit int) string {
	var b strings.Builder
	blank := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			blank = true
			continue
		case !visible(r):
			continue
		}
		if blank && b.Len() > 0 {
			b.WriteByte(' ')
		}
		blank = false
		b.WriteRune(r)
	}
	return ellipsis(b.String(), limit)
}

// blanks are drawn as nothing although Unicode counts them as letters, marks or symbols.
var blanks = []rune{'\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2800', '\u3164', '\uffa0', '\ufffd'}

func visible(r rune) bool {
	return unicode.IsPrint(r) && !slices.Contains(blanks, r) && !unicode.Is(unicode.Variation_Selector, r)
}

func ellipsis(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit]) + "…"
}

func cleanAll(texts []string, limit int) []string {
	var out []string
	for _, t := range texts {
		if c := clean(t, limit); c != "" {
			out = append(out, c)
		}
	}
	return out
}

// cut shortens a text to at most n bytes, on a character border.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
