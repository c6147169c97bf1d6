package quarantine

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normal writes texts in the form that patterns are written for: lower case, compatible
// forms and look-alikes as what they look like, no marks and nothing invisible, no quotes
// and no emphasis; blanks as one space, or as one line end where a new paragraph, list
// entry or sentence begins.
type normal struct {
	text    []byte
	blanks  int // line ends and others since the last character
	lines   int
	pending bool // an underscore, which counts between letters only
	tags    bool // in a text of characters that nobody sees
}

// keep forgets all but the last n bytes.
func (w *normal) keep(n int) {
	if drop := len(w.text) - n; drop > 0 {
		w.text = w.text[:copy(w.text, w.text[drop:])]
	}
}

// runEnd is how much stays of each end of a long word or path.
const runEnd = 32

// squeeze takes out the middle of words and paths that nobody reads: they would separate
// the parts of an order by more than a pattern fits.
func (w *normal) squeeze() {
	done, copied := 0, 0
	for at := 0; at < len(w.text); at++ {
		from := at
		for at < len(w.text) && isOfPath(w.text[at]) {
			at++
		}
		if at-from > 2*runEnd {
			done += copy(w.text[done:], w.text[copied:from+runEnd])
			copied = at - runEnd
		}
	}
	done += copy(w.text[done:], w.text[copied:])
	w.text = w.text[:done]
}

func isOfPath(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '-' && c <= ':' || c == '_' || c == '~' || c == '@'
}

func (w *normal) write(text string) {
	for len(text) > 0 {
		n := w.usual(text)
		if text = text[n:]; n > 0 {
			continue
		}
		if c := text[0]; c < utf8.RuneSelf {
			w.rune(rune(c))
			text = text[1:]
			continue
		}
		for n < len(text) && text[n] >= utf8.RuneSelf {
			n++
		}
		for _, r := range norm.NFKD.String(text[:n]) {
			w.rune(r)
		}
		text = text[n:]
	}
}

// usual writes the characters at the beginning of a text that stay as they are, and
// returns their number.
func (w *normal) usual(text string) (n int) {
	if w.blanks > 0 || w.pending || w.tags {
		return 0
	}
	for n < len(text) && isUsual(text[n]) {
		n++
	}
	w.text = append(w.text, text[:n]...)
	return n
}

func isUsual(c byte) bool {
	return c >= 'a' && c <= 'z' || c > ' ' && c < 'A' && c != '"' && c != '*'
}

func (w *normal) rune(r rune) {
	if tag := r >= 0xe0020 && r <= 0xe007e; tag != w.tags {
		w.tags = tag
		w.blanks++
	}
	if w.tags { // ASCII that nobody sees
		r -= 0xe0000
	}
	switch {
	case r == '\n' || r == '\u2028' || r == '\u2029':
		w.lines++
		w.blanks++
	case r == ' ' || r == '\t' || r == '\r' || r >= utf8.RuneSelf && unicode.IsSpace(r):
		w.blanks++
	case r == '_':
		w.pending = true
	case strings.ContainsRune("*`\"“”„«»", r) || isInvisible(r):
	default:
		w.visible(r)
	}
}

func isInvisible(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Variation_Selector) || r == utf8.RuneError || r == '\u115f' || r == '\u1160' || r == '\u3164') ||
		r < ' ' || r == 0x7f
}

func (w *normal) visible(r rune) {
	if w.pending && w.blanks == 0 && len(w.text) > 0 && isWord(rune(w.text[len(w.text)-1])) && isWord(r) {
		w.text = append(w.text, '_')
	}
	w.pending = false
	if w.blanks > 0 && len(w.text) > 0 {
		w.text = append(w.text, w.blank(r))
	}
	w.blanks, w.lines = 0, 0
	w.text = utf8.AppendRune(w.text, plain(unicode.ToLower(r)))
}

// blank is what stands for the blanks in front of a character. A line end within a
// sentence is one that a paragraph was broken at.
func (w *normal) blank(next rune) byte {
	if w.lines > 1 || w.lines == 1 && (unicode.IsUpper(next) || strings.ContainsRune("-+#>•|[<(0123456789", next)) {
		return '\n'
	}
	return ' '
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// plain is the ASCII character that a lower-case one is drawn like.
func plain(r rune) rune {
	if r < utf8.RuneSelf {
		return r
	}
	const alike, ascii = "аеорсухіјѕԁѵһԛԝɡαορνικτυε’‘ʼ‐‑‒–—―−", "aeopcyxijsdvhqwgaopviktue'''-------"
	if i := strings.IndexRune(alike, r); i >= 0 {
		return rune(ascii[utf8.RuneCountInString(alike[:i])])
	}
	return r
}
