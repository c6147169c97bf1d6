package quarantine

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aircoding/air/internal/literal"
)

// The bounds of the scanner hide nothing: an anchor is found, no match is longer than what
// is looked at around it, and of no match the beginning is forgotten with a piece.
func TestBounds(t *testing.T) {
	for _, p := range patterns() {
		for _, anchor := range append(p.anchors, p.also...) {
			if normalized(anchor) != strings.TrimSpace(anchor) && !strings.HasPrefix(anchor, " ") {
				t.Errorf("%s: %q is no normal text, which has %q", p.name, anchor, normalized(anchor))
			}
		}
		for _, anchor := range p.anchors {
			if len(anchor) < literal.Shortest {
				t.Errorf("%s: the anchor %q is never found", p.name, anchor)
			}
		}
		if n := longest(t, parsed(t, p.text)); n > around || n > overlap {
			t.Errorf("%s: a match may have %d bytes: %s", p.name, n, p.text)
		}
	}
}

func normalized(text string) string {
	var w normal
	w.write(text)
	return string(w.text)
}

func parsed(t *testing.T, expression string) *syntax.Regexp {
	t.Helper()
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

// longest is the most bytes of a normal, squeezed text that an expression fits.
func longest(t *testing.T, re *syntax.Regexp) (n int) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(string(re.Rune))
	case syntax.OpCharClass:
		return utf8.RuneLen(re.Rune[len(re.Rune)-1])
	case syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		return utf8.UTFMax
	case syntax.OpStar, syntax.OpPlus:
		for r := rune(0); r < utf8.RuneSelf; r++ {
			if fits(re.Sub[0].Rune, r) && !isOfPath(byte(r)) && !('A' <= r && r <= 'Z') {
				t.Errorf("%s fits any number of %q", re, r)
			}
		}
		return 2 * runEnd
	case syntax.OpRepeat:
		return re.Max * longest(t, re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			n = max(n, longest(t, sub))
		}
		return n
	}
	for _, sub := range re.Sub {
		n += longest(t, sub)
	}
	return n
}

func fits(class []rune, r rune) bool {
	for i := 0; i < len(class); i += 2 {
		if class[i] <= r && r <= class[i+1] {
			return true
		}
	}
	return false
}

// Whatever fits a pattern is found, wherever it stands: the anchors and what is also
// looked for leave nothing out.
func TestWhatFitsIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	filler := strings.Repeat("lorem ipsum dolor\n", 60)
	for _, p := range patterns() {
		s, checked := newSet([]pattern{p}), 0
		expression := parsed(t, p.text)
		for range 60 {
			text := example(random, expression)
			match := s.patterns[0].text.FindStringIndex(text)
			if match == nil {
				continue // it lacks a border of a word
			}
			for _, near := range p.near {
				text += " " + example(random, parsed(t, near))
			}
			if s.patterns[0].far(text[match[0]:]) > 0 {
				continue
			}
			checked++
			before := strings.Repeat(filler+text[:match[1]]+"\n", checked%2)
			if s.patterns[0].text.FindStringIndex(before+text) != nil && s.find(before+text+"\n"+filler).Pattern == "" {
				t.Errorf("%s: %q behind %d bytes is not found: %s", p.name, text, len(before), p.text)
			}
		}
		if checked < 6 {
			t.Errorf("%s: %d examples only: %s", p.name, checked, p.text)
		}
	}
}

// ascii are characters of normal texts.
const ascii = "\n !#$%&'()+,-./0123456789:;<=>?@[]^_abcdefghijklmnopqrstuvwxyz{|}~"

// example is a text that an expression fits, but for the borders of words.
func example(random *rand.Rand, re *syntax.Regexp) string {
	times := func(least, most int) (text string) {
		for range least + random.IntN(most-least+1) {
			text += example(random, re.Sub[0])
		}
		return text
	}
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		for {
			if r := rune(ascii[random.IntN(len(ascii))]); fits(re.Rune, r) {
				return string(r)
			}
		}
	case syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		return string(ascii[1+random.IntN(len(ascii)-1)])
	case syntax.OpStar:
		return times(0, 8)
	case syntax.OpPlus:
		return times(1, 8)
	case syntax.OpQuest:
		return times(0, 1)
	case syntax.OpRepeat:
		return times(re.Min, re.Max)
	case syntax.OpAlternate:
		return example(random, re.Sub[random.IntN(len(re.Sub))])
	}
	var all string
	for _, sub := range re.Sub {
		all += example(random, sub)
	}
	return all
}
