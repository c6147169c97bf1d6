// Package linediff finds what changed between two contents, as hunks that git and patch
// apply. It knows no files.
package linediff

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/aircoding/air/internal/patch"
)

const (
	// around is how many unchanged lines a hunk has around its changes.
	around = 3
	// maxLines and maxBytes bound what lies between the first and the last difference, of
	// both contents together. What is held is in proportion to it.
	maxLines = 2_000_000
	maxBytes = 128 << 20
)

// ErrTooLarge is that too much lies between the first and the last difference.
var ErrTooLarge = errors.New("the contents are too large and too different for a diff")

// Hunks returns the difference between two contents, nil when there is none. Lines end with
// \n alone; any other byte is part of its line. Of very different contents it is correct,
// but not the smallest: the time for it is bounded. It ends with the cause of ctx.
func Hunks(ctx context.Context, old, new []byte) ([]patch.Hunk, error) {
	if bytes.Equal(old, new) {
		return nil, nil
	}
	start, end := shared(old, new)
	before := bytes.Count(old[:start], []byte{'\n'})
	old, new = old[start:len(old)-end], new[start:len(new)-end]
	if len(old)+len(new) > maxBytes || bytes.Count(old, []byte{'\n'})+bytes.Count(new, []byte{'\n'}) > maxLines {
		return nil, ErrTooLarge
	}
	t := texts{old: split(string(old)), new: split(string(new))}
	changes, err := t.changes(ctx)
	if err != nil {
		return nil, err
	}
	var all []patch.Hunk
	for first, i := 0, 1; i <= len(changes); i++ {
		if i < len(changes) && changes[i].old-changes[i-1].oldEnd <= 2*around {
			continue // their lines around touch
		}
		all = append(all, t.hunk(before, changes[first:i]))
		first = i
	}
	return all, nil
}

// shared is how many bytes at the beginning and at the end need no look: whole lines that
// are the same in both, but for those that may be in a hunk.
func shared(old, new []byte) (start, end int) {
	start = commonPrefix(old, new)
	rest := min(len(old), len(new)) - start
	for range around + 1 {
		start = bytes.LastIndexByte(old[:start], '\n')
		if start < 0 {
			start = 0
			break
		}
	}
	if start > 0 {
		start++
	}
	tail := old[len(old)-commonSuffix(old[len(old)-rest:], new[len(new)-rest:]):]
	for range around + 1 {
		_, tail, _ = bytes.Cut(tail, []byte{'\n'})
	}
	return start, len(tail)
}

const block = 4096

func commonPrefix(a, b []byte) int {
	most, n := min(len(a), len(b)), 0
	for n+block <= most && bytes.Equal(a[n:n+block], b[n:n+block]) {
		n += block
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

// commonSuffix takes two slices of one length.
func commonSuffix(a, b []byte) int {
	n := len(a)
	for n >= block && bytes.Equal(a[n-block:n], b[n-block:n]) {
		n -= block
	}
	for n > 0 && a[n-1] == b[n-1] {
		n--
	}
	return len(a) - n
}

// hunk takes changes that are near each other, behind so many lines that are left out.
func (t *texts) hunk(skipped int, changes []change) patch.Hunk {
	first, last := changes[0], changes[len(changes)-1]
	before, after := min(around, first.old), min(around, len(t.old)-last.oldEnd)
	h := patch.Hunk{OldCount: last.oldEnd - first.old + before + after, NewCount: last.newEnd - first.new + before + after}
	h.OldStart = lineOf(skipped+first.old-before, h.OldCount)
	h.NewStart = lineOf(skipped+first.new-before, h.NewCount)
	put := func(op byte, lines []string) {
		for _, line := range lines {
			h.Lines = append(h.Lines, patch.Line{Op: op, Text: line})
		}
	}
	at := first.old - before
	for _, c := range changes {
		put(' ', t.old[at:c.old])
		put('-', t.old[c.old:c.oldEnd])
		put('+', t.new[c.new:c.newEnd])
		at = c.oldEnd
	}
	put(' ', t.old[at:at+after])
	return h
}

// lineOf is where lines lie, counted from 1; a run of none is behind the line it names.
func lineOf(start, count int) int {
	if count == 0 {
		return start
	}
	return start + 1
}

// split cuts a content into lines, each with its end.
func split(content string) []string {
	lines := strings.SplitAfter(content, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
