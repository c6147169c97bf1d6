package fs

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/linediff"
	"github.com/aircoding/air/internal/patch"
	"github.com/aircoding/air/internal/text"
)

const (
	// maxSearched is the size of a file up to which the nearest place is looked for.
	maxSearched = 4 << 20
	// maxCompared bounds how many lines are compared in one form.
	maxCompared = 10_000_000
	// maxMissDiff bounds the difference that an error shows, in bytes.
	maxMissDiff = 2 << 10
)

// noMatch says where in the content the wanted text almost is, and how it differs there.
// Nothing is done with it: the caller has to say what it wants.
func noMatch(ctx context.Context, shown string, content []byte, wanted string) error {
	e := fault.New(fault.Conflict, "no_match", "old_string does not occur in %s", shown)
	found, ok := nearest(ctx, content, wanted)
	if !ok {
		return e.WithHint("fs.read it again and copy the text as it is there, without line numbers")
	}
	e.Message += fmt.Sprintf(": nearest is line %d, which differs in %s", found.line, found.differs)
	return e.WithHint("%s", cmp.Or(hints[found.differs], "details.diff shows the difference; copy the text as the file has it")).With("line", found.line).With("differs", found.differs).With("diff", found.diff)
}

// miss is the place in a file that comes nearest to a text which is not in it.
type miss struct {
	line    int // of its beginning, from 1
	differs string
	diff    string // from the wanted text to the lines of the file
}

const (
	fileHasCRLF = `line ends: the file has \r\n, old_string \n`
	fileHasLF   = `line ends: the file has \n, old_string \r\n`
	noFinalEnd  = `the end of the last line: the file has none`
)

var hints = map[string]string{
	fileHasCRLF: `the file ends its lines with \r\n: write \r\n in old_string, and in new_string`,
	fileHasLF:   `the file ends its lines with \n: write no \r in old_string`,
}

// likeness is a form in which lines are compared that are not the same.
type likeness struct {
	differs string // what the form passes over
	of      func(line string) string
}

var likenesses = []likeness{
	{"line ends", func(line string) string { return strings.TrimSuffix(line, "\r") }},
	{"blanks at the end of a line", func(line string) string { return strings.TrimRight(line, " \t\r") }},
	{"tabs and spaces", withoutBlanks},
	{"upper and lower case", func(line string) string { return strings.ToLower(withoutBlanks(line)) }},
}

func withoutBlanks(line string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\u00a0", r) {
			return -1
		}
		return r
	}, line)
}

// nearest looks for the place that takes the least passing over.
func nearest(ctx context.Context, content []byte, wanted string) (miss, bool) {
	if len(content) > maxSearched {
		return miss{}, false
	}
	lines, want := strings.Split(string(content), "\n"), strings.Split(wanted, "\n")
	if ended := strings.TrimSuffix(wanted, "\n"); ended != wanted && bytes.HasSuffix(content, []byte(ended)) {
		return missAt(ctx, lines, want, max(0, len(lines)-len(want)+1), noFinalEnd), true
	}
	for _, like := range likenesses {
		if at, ok := find(lines, want, like.of); ok {
			m := missAt(ctx, lines, want, at, like.differs)
			if like.differs == "line ends" {
				m.differs = lineEnds(lines[at:], want)
			}
			return m, true
		}
	}
	if at, ok := similar(lines, want); ok {
		return missAt(ctx, lines, want, at, "words"), true
	}
	return miss{}, false
}

func lineEnds(lines, want []string) string {
	if strings.HasSuffix(lines[0], "\r") && !strings.HasSuffix(want[0], "\r") {
		return fileHasCRLF
	}
	return fileHasLF
}

// find looks for lines that are alike: the first may begin, and the last may end, within a
// line of the file.
func find(lines, want []string, of func(string) string) (int, bool) {
	lines, want = inForm(lines, of), inForm(want, of)
	if strings.Join(want, "") == "" {
		return 0, false
	}
	for i, compared := 0, 0; i+len(want) <= len(lines) && compared < maxCompared; i++ {
		equal, looked := begins(lines[i:], want)
		if equal {
			return i, true
		}
		compared += looked
	}
	return 0, false
}

func inForm(lines []string, of func(string) string) []string {
	all := make([]string, len(lines))
	for i, line := range lines {
		all[i] = of(line)
	}
	return all
}

// begins also says how many lines it looked at.
func begins(lines, want []string) (equal bool, looked int) {
	last := len(want) - 1
	if last == 0 {
		return strings.Contains(lines[0], want[0]), 1
	}
	if !strings.HasSuffix(lines[0], want[0]) {
		return false, 1
	}
	for i := 1; i < last; i++ {
		if lines[i] != want[i] {
			return false, i + 1
		}
	}
	return strings.HasPrefix(lines[last], want[last]), last + 1
}

func missAt(ctx context.Context, lines, want []string, at int, differs string) miss {
	there := lines[at:min(len(lines), at+len(want))]
	hunks, _ := linediff.Hunks(ctx, joined(want), joined(there)) // without them the line is said
	return miss{line: at + 1, differs: differs, diff: text.Head(patch.FormatHunks(hunks), maxMissDiff)}
}

func joined(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

// listed names numbers in a sentence.
func listed(numbers []int) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}
