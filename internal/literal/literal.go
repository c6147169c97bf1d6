// Package literal finds where any of many short texts stands in a long one, in one pass
// over it. It is what keeps looking for rare things cheap.
package literal

import (
	"slices"
	"strings"
)

// Set is a set of texts to look for. Looking in it is safe from several goroutines.
type Set struct {
	begins [1 << 16 / 64]uint64 // a bit for the hash of the three bytes that a text begins with
	texts  map[uint16][]entry   // by that hash, longest first
}

type entry struct {
	text string
	id   int
	fold bool
}

// Text is one text of a Set: at least three bytes, and ASCII where Fold finds it in any
// case.
type Text struct {
	Text string
	Fold bool
}

// Shortest is the number of bytes from which a text is found.
const Shortest = 3

// New returns the set of the texts, whose ids are their places. Shorter ones than Shortest
// are never found.
func New(texts []Text) *Set {
	s := &Set{texts: make(map[uint16][]entry, 2*len(texts))}
	for id, t := range texts {
		if len(t.Text) >= Shortest {
			s.add(entry{t.Text, id, t.Fold})
		}
	}
	return s
}

func (s *Set) add(e entry) {
	for _, a := range cases(e.text[0], e.fold) {
		for _, b := range cases(e.text[1], e.fold) {
			for _, c := range cases(e.text[2], e.fold) {
				s.addAt(hash(a, b, c), e)
			}
		}
	}
}

// addAt keeps the longest first, and each text once though two of its cases may have one
// hash.
func (s *Set) addAt(h uint16, e entry) {
	s.begins[h>>6] |= 1 << (h & 63)
	at := s.texts[h]
	i := 0
	for i < len(at) && len(at[i].text) >= len(e.text) && at[i].id != e.id {
		i++
	}
	if i == len(at) || at[i].id != e.id {
		s.texts[h] = slices.Insert(at, i, e)
	}
}

func cases(c byte, fold bool) []byte {
	if letter := c | 0x20; fold && letter >= 'a' && letter <= 'z' {
		return []byte{letter, letter &^ 0x20}
	}
	return []byte{c}
}

func hash(a, b, c byte) uint16 { return uint16(a)<<10 ^ uint16(b)<<5 ^ uint16(c) }

// Each calls found with every place in the text where one of the set stands, from left to
// right, at one place the longest first. found returns where to go on, or 0 for the next
// of the set that stands there too.
func (s *Set) Each(text string, found func(at, id int) (next int)) {
	for i, h := s.next(text, 0); i >= 0; i, h = s.next(text, i) {
		i = max(s.at(text, i, s.texts[h], found), i+1)
	}
}

// next is the first place from i on where one of the set may stand, and the hash there;
// -1 where there is none.
func (s *Set) next(text string, i int) (int, uint16) {
	begins := &s.begins
	for ; i+Shortest <= len(text); i++ {
		three := text[i : i+Shortest]
		h := hash(three[0], three[1], three[2])
		if begins[h>>6]&(1<<(h&63)) != 0 {
			return i, h
		}
	}
	return -1, 0
}

func (s *Set) at(text string, i int, entries []entry, found func(at, id int) int) (next int) {
	rest := text[i:]
	for _, e := range entries {
		if !e.begins(rest) {
			continue
		}
		if next := found(i, e.id); next > 0 {
			return next
		}
	}
	return 0
}

func (e entry) begins(text string) bool {
	if len(text) < len(e.text) {
		return false
	}
	text = text[:len(e.text)]
	return text == e.text || e.fold && strings.EqualFold(text, e.text)
}
