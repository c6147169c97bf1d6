package quarantine

import (
	"slices"
	"strings"
)

// around is how far from an anchor a match of its pattern may begin or end. No pattern
// fits more of a normal text.
const around = 1 << 10

// find returns where a normal text fits a pattern.
func (s *set) find(text string) (found Finding) {
	windows := make([]window, len(s.patterns))
	flat := onOneLine(text)
	s.anchors.Each(flat, func(at, id int) int {
		if found.Pattern != "" {
			return len(text)
		}
		pattern := s.byAnchor[id]
		w := &windows[pattern]
		if w.to > 0 && at-around <= w.to {
			w.to = at + around
			return 0
		}
		found = s.fits(pattern, text, flat, *w)
		*w = window{max(0, at-around), at + around}
		return 0
	})
	for i, w := range windows {
		if found.Pattern == "" {
			found = s.fits(i, text, flat, w)
		}
	}
	return found
}

// window is a piece of a text in which one pattern may fit.
type window struct{ from, to int }

// fits looks at each match that can be an order: however many there are before it.
func (s *set) fits(pattern int, text, flat string, w window) Finding {
	if w.to == 0 {
		return Finding{}
	}
	p := &s.patterns[pattern]
	to := min(w.to, len(text))
	if !p.mayFit(flat[w.from:min(to+nearBytes, len(text))]) {
		return Finding{}
	}
	for at := w.from; at < to; {
		match := p.text.FindStringIndex(text[at:to])
		if match == nil {
			break
		}
		from, end := at+match[0], at+match[1]
		if far := p.far(text[from:]); far > 0 {
			at = from + far
			continue
		}
		words := strings.TrimLeft(text[from:end], beforeWords)
		if from = end - len(words); !p.states(text, from) {
			return Finding{Pattern: p.name, Text: onOneLine(words)}
		}
		at = from + 1
	}
	return Finding{}
}

// beforeWords is what a match may begin with that is not part of the order.
const beforeWords = "\n .!?:;,(>|-"

func onOneLine(text string) string { return strings.ReplaceAll(text, "\n", " ") }

// states reports whether the match whose words begin at a place is a statement.
func (p *compiled) states(text string, at int) bool {
	return p.unless != nil && p.unless.MatchString(text[max(0, at-nearBytes):at]+"\x00"+text[at:min(at+nearBytes, len(text))])
}

func (p *compiled) mayFit(text string) bool {
	return slices.ContainsFunc(p.also, func(also string) bool { return strings.Contains(text, also) })
}

// far is by how much a match that the text begins with is too far from what is to be near,
// at least: 0 where it is near enough.
func (p *compiled) far(text string) int {
	far := 0
	for _, near := range p.near {
		match := near.FindStringIndex(text)
		if match == nil {
			return len(text)
		}
		far = max(far, match[0]-nearBytes)
	}
	return far
}
