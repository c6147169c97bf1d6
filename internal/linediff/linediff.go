// Package linediff writes what changed between two contents as a unified diff that git
// and patch apply. It knows no files.
package linediff

import (
	"bytes"
	"fmt"
	"strings"
)

// context is how many unchanged lines a hunk has around its changes.
const context = 3

// Unified returns the difference between two contents as git writes it, nil when there is
// none. A name of "" stands for a file that does not exist. Lines end with \n alone; any
// other byte is part of its line. Of very different contents the diff is correct, but not
// the smallest: time is linear in the contents. Memory is 64 bytes for each line between
// the first and the last that differ, and the diff.
func Unified(oldName, newName string, old, new []byte) []byte {
	if bytes.Equal(old, new) {
		return nil
	}
	start, end := shared(old, new)
	t := texts{old: split(old[start : len(old)-end]), new: split(new[start : len(new)-end])}
	t.before = bytes.Count(old[:start], []byte{'\n'})
	var out bytes.Buffer
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", header("a/", oldName), header("b/", newName))
	for _, h := range hunks(t.changes()) {
		t.write(&out, h)
	}
	return out.Bytes()
}

// shared is how many bytes at the beginning and at the end need no look: whole lines that
// are the same in both, but for those that may be context.
func shared(old, new []byte) (start, end int) {
	start = commonPrefix(old, new)
	rest := min(len(old), len(new)) - start
	for range context + 1 {
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
	for range context + 1 {
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

// header is a name as git writes it: quoted where it would be misread, and ended by a tab
// where it has blanks.
func header(prefix, name string) string {
	switch {
	case name == "":
		return "/dev/null"
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }):
		return quote(prefix + name)
	case strings.Contains(name, " "):
		return prefix + name + "\t"
	}
	return prefix + name
}

// quote writes a name as a string in C, with octal escapes.
func quote(name string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range []byte(name) {
		switch {
		case c == '"' || c == '\\':
			out.Write([]byte{'\\', c})
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&out, `\%03o`, c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String() + `"`
}

// hunk is a run of changes that are near each other, with its context still to come.
type hunk []change

// hunks joins changes whose context touches.
func hunks(changes []change) []hunk {
	var all []hunk
	start := 0
	for i := 1; i <= len(changes); i++ {
		if i < len(changes) && changes[i].old-changes[i-1].oldEnd <= 2*context {
			continue
		}
		all = append(all, changes[start:i])
		start = i
	}
	return all
}

func (t *texts) write(out *bytes.Buffer, h hunk) {
	first, last := h[0], h[len(h)-1]
	before := min(context, first.old)
	after := min(context, len(t.old)-last.oldEnd)
	oldCount, newCount := last.oldEnd-first.old+before+after, last.newEnd-first.new+before+after
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(t.before+first.old-before, oldCount), span(t.before+first.new-before, newCount))
	at := first.old - before
	for _, c := range h {
		put(out, ' ', t.old[at:c.old])
		put(out, '-', t.old[c.old:c.oldEnd])
		put(out, '+', t.new[c.new:c.newEnd])
		at = c.oldEnd
	}
	put(out, ' ', t.old[at:at+after])
}

// span is where lines lie, counted from 1; a span of none is behind the line it names.
func span(start, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, count)
}

func put(out *bytes.Buffer, mark byte, lines [][]byte) {
	for _, line := range lines {
		out.WriteByte(mark)
		out.Write(line)
		if line[len(line)-1] != '\n' {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// split cuts a content into lines, each with its end.
func split(content []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(content, []byte{'\n'})+1)
	for len(content) > 0 {
		end := bytes.IndexByte(content, '\n') + 1
		if end == 0 {
			end = len(content)
		}
		lines = append(lines, content[:end:end])
		content = content[end:]
	}
	return lines
}
