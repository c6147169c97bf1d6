package capabilities

import (
	"context"
	"fmt"
	"strings"

	"github.com/aircoding/air/internal/linediff"
	"github.com/aircoding/air/internal/text"
)

const (
	// maxListed is how many lines of changed texts one comparison lists, and maxOfText how
	// many of them belong to one text.
	maxListed = 20_000
	maxOfText = 500
	// maxShown is how many bytes of a text one line shows. No text of a manifest is longer.
	maxShown = 4 * maxText
	// whole is the length up to which a line is compared as one piece. Of a longer one the
	// words are, so that each change in it is seen in its place.
	whole   = 160
	maxWord = 64
	// Each piece ends with what says whether its line does: nothing that a text has in it
	// can be taken for the other.
	ends, continues = ".\n", "+\n"
)

// textDiff lists what is different between texts.
type textDiff struct {
	left     int // lines that may still be listed
	unlisted int // lines that were not, in the present section
}

// value lists the change of a text of the manifest under its name.
func (t *textDiff) value(ctx context.Context, name, before, after string) []string {
	if before == after {
		return nil
	}
	lines := []string{"~ " + name}
	if len(before) > whole || len(after) > whole || strings.Contains(before+after, "\n") {
		return append(lines, indented(t.lines(ctx, before, after))...)
	}
	b, a := apart(before, after)
	if before != "" {
		lines = append(lines, `  - "`+b+`"`)
	}
	if after != "" {
		lines = append(lines, `  + "`+a+`"`)
	}
	return append(lines, indented(newCharacters(before, after))...)
}

// lines lists all changed lines of a text, with some that are the same around them. Of
// what is more than the limits it says how much it is.
func (t *textDiff) lines(ctx context.Context, before, after string) []string {
	old, _ := pieces(before)
	fresh, numbers := pieces(after)
	hunks, err := linediff.Hunks(ctx, []byte(old), []byte(fresh))
	if err != nil {
		return []string{"~ what changed cannot be listed: " + text.Line(err.Error(), 200)}
	}
	var all []string
	for _, h := range hunks {
		all = append(all, fmt.Sprintf("@@ line %d @@", numbers[min(max(h.NewStart-1, 0), len(numbers)-1)]))
		all = append(all, hunkLines(h)...)
	}
	limit := min(t.left, maxOfText)
	t.left -= min(len(all), limit)
	if more := len(all) - limit; more > 0 {
		t.unlisted += more
		all = append(all[:limit], fmt.Sprintf("… %d more lines of changes in this text are NOT listed", more))
	}
	return append(all, newCharacters(before, after)...)
}

// pieces puts each piece of a text on a line, and says of each in which line it was.
func pieces(s string) (out string, numbers []int) {
	var b strings.Builder
	number := 1
	for line := range strings.Lines(s) {
		body, ended := strings.CutSuffix(line, "\n")
		all := words(body)
		for i, piece := range all {
			b.WriteString(piece)
			if ended && i == len(all)-1 {
				b.WriteString(ends)
			} else {
				b.WriteString(continues)
			}
			numbers = append(numbers, number)
		}
		number++
	}
	return b.String(), append(numbers, number)
}

// words cuts a long line behind its blanks, and words that are too long for one. A short
// line is one piece.
func words(line string) []string {
	if len(line) <= whole {
		return []string{line}
	}
	var all []string
	for _, word := range strings.SplitAfter(line, " ") {
		for len(word) > maxWord {
			head := text.Head(word, maxWord)
			all, word = append(all, head), word[len(head):]
		}
		if word != "" {
			all = append(all, word)
		}
	}
	return all
}

func indented(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = "  " + l
	}
	return out
}
