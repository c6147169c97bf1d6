package capabilities

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aircoding/air/internal/patch"
	"github.com/aircoding/air/internal/text"
)

// hunkLines writes a hunk with pieces of one line put together again.
func hunkLines(h patch.Hunk) []string {
	var runs []patch.Line
	for _, l := range h.Lines {
		piece, ended := strings.CutSuffix(l.Text, ends)
		if ended {
			piece += "\n"
		}
		piece = strings.TrimSuffix(piece, continues)
		n := len(runs)
		if n > 0 && runs[n-1].Op == l.Op && !strings.HasSuffix(runs[n-1].Text, "\n") {
			runs[n-1].Text += piece
			continue
		}
		runs = append(runs, patch.Line{Op: l.Op, Text: piece})
	}
	looks := looksOf(runs)
	lines := make([]string, len(runs))
	for i, r := range runs {
		body := runLine(r.Text)
		if looks[body] > 1 {
			body = strconv.QuoteToASCII(r.Text)
		}
		lines[i] = string(r.Op) + " " + cut(body)
	}
	return lines
}

// looksOf counts how many different lines look the same.
func looksOf(runs []patch.Line) map[string]int {
	looks, seen := map[string]int{}, map[string]bool{}
	for _, r := range runs {
		if !seen[r.Text] {
			seen[r.Text] = true
			looks[runLine(r.Text)]++
		}
	}
	return looks
}

// runLine shows a line, or a part of one that goes on.
func runLine(s string) string {
	if line, ended := strings.CutSuffix(s, "\n"); ended {
		return codeLine(line)
	}
	return codeLine(strings.TrimSuffix(s, " "))
}

// codeLine shows a line with its indentation.
func codeLine(s string) string {
	const most = 40
	body := strings.TrimLeft(s, " ")
	indent := len(s) - len(body)
	if indent > most || body == "" {
		return shown(s)
	}
	return s[:indent] + shown(body)
}

// shown is a text of a publisher as one line, blanks at its end spelled out.
func shown(s string) string {
	rest := strings.TrimRight(s, " ")
	out := text.Escape(rest)
	if n := len(s) - len(rest); n > 4 {
		out += fmt.Sprintf(`\u{20}{%d}`, n)
	} else {
		out += strings.Repeat(`\u{20}`, n)
	}
	return cut(out)
}

func cut(s string) string {
	if len(s) <= maxShown {
		return s
	}
	head := text.Head(s, maxShown)
	return fmt.Sprintf("%s… (%d more bytes)", head, len(s)-len(head))
}

// apart shows two different texts so that they look different.
func apart(before, after string) (b, a string) {
	b, a = shown(before), shown(after)
	if b == a {
		b, a = strconv.QuoteToASCII(before), strconv.QuoteToASCII(after)
		return b[1 : len(b)-1], a[1 : len(a)-1]
	}
	return b, a
}

// newCharacters names the characters beyond ASCII that a text did not have before: some
// look like others.
func newCharacters(before, after string) []string {
	const most = 12
	had := map[rune]bool{}
	for _, r := range before {
		had[r] = true
	}
	var fresh []rune
	for _, r := range after {
		if r < utf8.RuneSelf || had[r] {
			continue
		}
		had[r] = true
		fresh = append(fresh, r)
	}
	if len(fresh) == 0 || before == "" {
		return nil
	}
	slices.Sort(fresh)
	names := make([]string, 0, most)
	for _, r := range fresh[:min(len(fresh), most)] {
		if text.Visible(r) && text.Escape(string(r)) == string(r) {
			names = append(names, fmt.Sprintf("%c is U+%04X", r, r))
		} else {
			names = append(names, fmt.Sprintf("U+%04X", r))
		}
	}
	line := "~ characters that were not in it before: " + strings.Join(names, ", ")
	if more := len(fresh) - most; more > 0 {
		line += fmt.Sprintf(", and %d more", more)
	}
	return []string{line}
}
