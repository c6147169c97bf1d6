package patch

import (
	"fmt"
	"strings"

	"github.com/aircoding/air/internal/text"
)

// Result is what came of applying hunks.
type Result struct {
	Content string
	Hunks   []Hunk   // those that were applied, with the lines at which they were
	Rejects []Reject // where there is one, Content is not complete
}

// Reject is a hunk that does not apply.
type Reject struct {
	Hunk   int // its index
	Reason string
}

// Work counts what was done for all files of a patch, whose sum is bounded.
type Work struct{ compared int }

// maxCompared bounds how many lines are compared for a patch; a long line counts for more.
const (
	maxCompared  = 50_000_000
	comparedLong = 64
)

func (w *Work) spent() bool { return w.compared > maxCompared }

// Apply applies the hunks of a file, each where its lines are found, unchanged, nearest to
// where it says, and behind the hunk before it. A hunk without lines of context before it
// that begins at the first line has to be there, one without lines of context behind has
// to be at the end, as with git apply. Once the work for the patch is too much, what is left is
// rejected.
func Apply(content string, hunks []Hunk, work *Work) Result {
	a := applying{work: work}
	if !work.spent() {
		a.source = splitLines(content)
	}
	for i := range hunks {
		a.hunk(i, &hunks[i])
	}
	a.copy(len(a.source))
	a.result.Content = a.out.String()
	return a.result
}

// applying is one file on its way.
type applying struct {
	source []string
	next   int // the first line of source that is not in out
	out    strings.Builder
	lines  int // in out
	work   *Work
	result Result
}

func (a *applying) copy(end int) {
	for _, line := range a.source[a.next:end] {
		a.out.WriteString(line)
	}
	a.lines += end - a.next
	a.next = end
}

func (a *applying) hunk(index int, h *Hunk) {
	before := h.side('+')
	at, ok := a.find(h, before)
	if !ok {
		a.result.Rejects = append(a.result.Rejects, Reject{index, a.reason(h, before)})
		return
	}
	a.copy(at)
	placed := *h
	placed.OldStart, placed.NewStart = at+1, a.lines+1
	if h.OldCount == 0 {
		placed.OldStart--
	}
	if h.NewCount == 0 {
		placed.NewStart--
	}
	a.result.Hunks = append(a.result.Hunks, placed)
	for _, line := range h.side('-') {
		a.out.WriteString(line)
		a.lines++
	}
	a.next = at + len(before)
}

// side are the lines without those of an operation.
func (h *Hunk) side(without byte) []string {
	lines := make([]string, 0, len(h.Lines))
	for _, l := range h.Lines {
		if l.Op != without {
			lines = append(lines, l.Text)
		}
	}
	return lines
}

// anchored says where a hunk has to be, whatever its lines are.
func (h *Hunk) anchored() (first, last bool) {
	return h.OldStart <= 1, len(h.Lines) == 0 || h.Lines[len(h.Lines)-1].Op != ' '
}

// stated is the line of source, from 0, at which the hunk says it is: counted in the file
// as the hunks before have left it.
func (a *applying) stated(h *Hunk) int {
	return min(max(h.NewStart-1, 0)-a.lines+a.next, len(a.source))
}

// find looks for the lines from where the hunk says, one line further down and up at a time.
func (a *applying) find(h *Hunk, before []string) (at int, ok bool) {
	first, last := h.anchored()
	low, high := a.next, len(a.source)-len(before)
	if first {
		high = min(high, -a.lines+a.next) // the first line of what there is now
	}
	if last {
		low = max(low, len(a.source)-len(before))
	}
	if low > high {
		return 0, false
	}
	start := min(max(a.stated(h), low), high)
	for distance := 0; start+distance <= high || start-distance >= low; distance++ {
		if start+distance <= high && a.match(start+distance, before) {
			return start + distance, true
		}
		if distance > 0 && start-distance >= low && a.match(start-distance, before) {
			return start - distance, true
		}
		if a.work.spent() {
			return 0, false
		}
	}
	return 0, false
}

func (a *applying) match(at int, before []string) bool {
	a.work.compared++
	for i, line := range before {
		if a.source[at+i] != line {
			return false
		}
		a.work.compared += 1 + len(line)/comparedLong
	}
	return true
}

// reason says which line is another one, where the hunk says that it is.
func (a *applying) reason(h *Hunk, before []string) string {
	if a.work.spent() {
		return "looking for its lines was given up: the file and the patch are too large for each other"
	}
	at := max(a.stated(h), a.next)
	for i, line := range before {
		if at+i >= len(a.source) {
			return fmt.Sprintf("the file ends before line %d, where the patch has %s", at+i+1, shown(line))
		}
		if a.source[at+i] != line {
			return fmt.Sprintf("line %d is %s, the patch has %s", at+i+1, shown(a.source[at+i]), shown(line))
		}
	}
	first, last := h.anchored()
	switch {
	case first:
		return "its lines are not at the beginning of the file, where it belongs"
	case last:
		return "its lines are not at the end of the file, and it has no context behind it"
	}
	return "its lines were changed by the hunk before it"
}

// shown is a line as a message has it; the line end where it is not the usual one.
func shown(line string) string {
	cut := text.Head(chomp(line), shownText)
	switch {
	case !strings.HasSuffix(line, "\n"):
		return fmt.Sprintf("%q without a line end", cut)
	case len(cut) < len(line)-1:
		return fmt.Sprintf("%q…", cut)
	}
	return fmt.Sprintf("%q", cut)
}
