// Package redact replaces secrets in texts that are stored or shown as logs and events.
// It never sees what a tool returns: an edited result would corrupt the next edit.
//
// It knows secrets by their form, as the vendors publish it, by the name that they are
// assigned to, and by their value where the person stored it. It is a net, not a wall: a
// secret without form, name and known value stays.
package redact

import "strings"

// Redactor replaces secrets. A nil Redactor knows them by form and name alone.
type Redactor struct {
	known *known
}

// New returns a Redactor that also knows these values, the shortest with six bytes;
// shorter ones stand in too many places where they are no secret.
func New(values []string) *Redactor { return &Redactor{newKnown(values)} }

// passes bounds how often a text is gone over: what was replaced may uncover more.
const passes = 4

// Text replaces each secret in a text by [redacted:NAME], with the name of its rule. The
// end of a text counts as cut off: what could be the beginning of a secret goes as well. A
// text that the last pass still changed goes as a whole, as [redacted:text].
func (r *Redactor) Text(text string) string {
	for range passes {
		next := byRules(r.byValue(text))
		if next == text {
			return text
		}
		text = next
	}
	return mark("text")
}

func (r *Redactor) byValue(text string) string {
	if r == nil || r.known == nil {
		return text
	}
	return r.known.replace(text)
}

// Knows reports whether a text has one of the values in it, in any of the ways to write
// them.
func (r *Redactor) Knows(text string) (found bool) {
	if r == nil || r.known == nil {
		return false
	}
	r.known.set.Each(text, func(_, id int) int {
		found = found || id != 0 // 0 is a mark
		if found {
			return len(text)
		}
		return 0
	})
	return found
}

// byRules replaces what the rules find, from left to right.
func byRules(text string) string {
	var b strings.Builder
	done := 0
	compiled().set.Each(text, func(at, id int) int {
		if id == 0 {
			return afterMark(text, at)
		}
		rule := compiled().byKey[id]
		from, to := rule.find(text, at, at+len(compiled().keys[id].Text))
		from = max(from, done)
		if to <= from {
			return 0
		}
		b.WriteString(text[done:from])
		b.WriteString(mark(rule.name))
		done = to
		return to
	})
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

const (
	markBegin = "[redacted:"
	markEnd   = "]"
)

func mark(name string) string { return markBegin + name + markEnd }

// afterMark is the end of the mark at a place, 0 where there is none.
func afterMark(text string, at int) int {
	if m := marker(text[at:]); m != "" {
		return at + len(m)
	}
	return 0
}

// marker is the mark that a text begins with, "" where it begins with none.
func marker(text string) string {
	if !strings.HasPrefix(text, markBegin) {
		return ""
	}
	n := len(markBegin)
	for n < len(text) && (isLower(text[n]) || text[n] == '-') {
		n++
	}
	if n == len(markBegin) || n == len(text) || text[n] != markEnd[0] {
		return ""
	}
	return text[:n+1]
}
