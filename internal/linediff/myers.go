package linediff

import (
	"context"
	"slices"
)

// change says that the lines [old, oldEnd) became [new, newEnd).
type change struct{ old, oldEnd, new, newEnd int }

// texts are two contents as lines, with a number for each line that may differ: the same for
// the same lines.
type texts struct {
	old, new       []string
	oldIDs, newIDs []int32
	compared       int // in all searches
	changed        []change
}

// changes lists what differs, in order; two neighbours have a common line between them.
func (t *texts) changes(ctx context.Context) ([]change, error) {
	at := 0
	for at < min(len(t.old), len(t.new)) && t.old[at] == t.new[at] {
		at++
	}
	oldEnd, newEnd := len(t.old), len(t.new)
	for oldEnd > at && newEnd > at && t.old[oldEnd-1] == t.new[newEnd-1] {
		oldEnd, newEnd = oldEnd-1, newEnd-1
	}
	numbers := map[string]int32{}
	t.oldIDs, t.newIDs = ids(numbers, t.old[:oldEnd], at), ids(numbers, t.new[:newEnd], at)
	for x, y := at, at; x < oldEnd || y < newEnd; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if t.compared > maxAllCompared {
			t.add(change{x, oldEnd, y, newEnd})
			break
		}
		x, y = t.advance(x, y, oldEnd, newEnd)
	}
	return t.changed, nil
}

// ids numbers the lines from start on.
func ids(numbers map[string]int32, lines []string, start int) []int32 {
	all := make([]int32, len(lines))
	for i := start; i < len(lines); i++ {
		id, known := numbers[lines[i]]
		if !known {
			id = int32(len(numbers))
			numbers[lines[i]] = id
		}
		all[i] = id
	}
	return all
}

const (
	// maxSteps bounds the number of lines that differ in one search, and with it the
	// memory: its square, in bytes.
	maxSteps = 512
	// maxCompared bounds the comparisons of one search.
	maxCompared = 1 << 22
	// maxAllCompared bounds those of all: what is left then is one change.
	maxAllCompared = 1 << 26
)

// search is one run of the greedy algorithm of Myers, "An O(ND) difference algorithm and
// its variations" (1986), from a pair of lines on. ends[d][k+d] is how far in old the
// furthest path of d changed lines gets on diagonal k, counted from the start.
type search struct {
	*texts
	x, y, width, height int
	ends                [][]int32
	started             int // what was compared before
}

// advance finds changes from (x, y) on, as far as one search gets, and returns where it
// got to: the end, or the furthest point that few enough changes lead to.
func (t *texts) advance(x, y, oldEnd, newEnd int) (int, int) {
	s := search{texts: t, x: x, y: y, width: oldEnd - x, height: newEnd - y, started: t.compared}
	for d := 0; ; d++ {
		if k, done := s.round(d); done || d == maxSteps || t.compared-s.started > maxCompared {
			s.keep(d, k)
			end := int(s.ends[d][k+d])
			return x + end, y + end - k
		}
	}
}

// round takes all paths one changed line further. It returns the diagonal on which most
// of both contents is used up, and whether that is all of them.
func (s *search) round(d int) (best int, done bool) {
	row := make([]int32, 2*d+1)
	s.ends = append(s.ends, row)
	most := -1
	for k := -d; k <= d; k += 2 {
		x := s.start(d, k)
		s.compared++
		if x < 0 || x > s.width || x-k > s.height {
			row[k+d] = -1
			continue
		}
		from := x
		for x < s.width && x-k < s.height && s.oldIDs[s.x+x] == s.newIDs[s.y+x-k] {
			x++
		}
		s.compared += x - from
		row[k+d] = int32(x)
		if 2*x-k > most {
			best, most = k, 2*x-k
		}
	}
	return best, most == s.width+s.height
}

// start is where a path of d changes begins on diagonal k: behind a line that was added,
// or one that was removed, whichever leads further; -1 for nowhere.
func (s *search) start(d, k int) int {
	if d == 0 {
		return 0
	}
	added, removed := s.end(d-1, k+1), s.end(d-1, k-1)
	if removed >= 0 {
		removed++
	}
	if removed > s.width {
		removed = -1
	}
	if added-k > s.height {
		added = -1
	}
	return max(added, removed)
}

func (s *search) end(d, k int) int {
	if k < -d || k > d {
		return -1
	}
	return int(s.ends[d][k+d])
}

// keep adds the changes on the path that ends on diagonal k after d of them.
func (s *search) keep(d, k int) {
	var found []change
	for ; d > 0; d-- {
		x := s.start(d, k)
		y := x - k
		if added := s.end(d-1, k+1); added == x && added-k <= s.height {
			found = append(found, change{x, x, y - 1, y})
			k++
		} else {
			found = append(found, change{x - 1, x, y, y})
			k--
		}
	}
	slices.Reverse(found)
	for _, c := range found {
		s.add(change{s.x + c.old, s.x + c.oldEnd, s.y + c.new, s.y + c.newEnd})
	}
}

// add appends a change, to the last one where it follows without a line between.
func (t *texts) add(c change) {
	if n := len(t.changed); n > 0 {
		if last := &t.changed[n-1]; last.oldEnd == c.old && last.newEnd == c.new {
			last.oldEnd, last.newEnd = c.oldEnd, c.newEnd
			return
		}
	}
	t.changed = append(t.changed, c)
}
