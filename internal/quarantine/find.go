package quarantine

import (
	"slices"
	"strings"
)

// around is how far from an anchor a match of its pattern may begin or end.
const around = 300

// find returns the name of a pattern that a normal text fits, "" for none.
func find(text string) string {
	s := theSet()
	windows := make([]window, len(s.patterns))
	found := ""
	s.anchors.Each(text, func(at, id int) int {
		if found != "" {
			return len(text)
		}
		pattern := s.byAnchor[id]
		w := &windows[pattern]
		if w.to > 0 && at-around <= w.to {
			w.to = at + around
			return 0
		}
		found = s.fits(pattern, text, *w)
		*w = window{max(0, at-around), at + around}
		return 0
	})
	for i, w := range windows {
		if found == "" {
			found = s.fits(i, text, w)
		}
	}
	return found
}

// window is a piece of a text in which one pattern may fit.
type window struct{ from, to int }

// mostMatches bounds the matches of one window whose neighbourhood is looked at.
const mostMatches = 100

func (s *set) fits(pattern int, text string, w window) string {
	if w.to == 0 {
		return ""
	}
	p := &s.patterns[pattern]
	to := min(w.to, len(text))
	if !p.mayFit(text[w.from:min(to+nearBytes, len(text))]) {
		return ""
	}
	for _, match := range p.text().FindAllStringIndex(text[w.from:to], mostMatches) {
		if p.nearFits(text[w.from+match[0]:]) {
			return p.name
		}
	}
	return ""
}

func (p *compiled) mayFit(text string) bool {
	return slices.ContainsFunc(p.also, func(also string) bool { return strings.Contains(text, also) })
}

func (p *compiled) nearFits(text string) bool {
	text = text[:min(nearBytes, len(text))]
	for _, near := range p.near {
		if !near().MatchString(text) {
			return false
		}
	}
	return true
}
