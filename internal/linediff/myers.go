package linediff

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// change says that the lines [old, oldEnd) became [new, newEnd).
type change struct{ old, oldEnd, new, newEnd int }

// texts are two contents as lines, with a hash of each line that may differ.
type texts struct {
	old, new         [][]byte
	before           int // lines at the beginning that are left out
	oldSums, newSums []uint64
	changed          []change
}

// changes lists what differs, in order; two neighbours have a common line between them.
func (t *texts) changes() []change {
	at := 0
	for at < min(len(t.old), len(t.new)) && bytes.Equal(t.old[at], t.new[at]) {
		at++
	}
	oldEnd, newEnd := len(t.old), len(t.new)
	for oldEnd > at && newEnd > at && bytes.Equal(t.old[oldEnd-1], t.new[newEnd-1]) {
		oldEnd, newEnd = oldEnd-1, newEnd-1
	}
	seed := maphash.MakeSeed()
	t.oldSums, t.newSums = sums(seed, t.old[:oldEnd], at), sums(seed, t.new[:newEnd], at)
	for x, y := at, at; x < oldEnd || y < newEnd; {
		x, y = t.advance(x, y, oldEnd, newEnd)
	}
	return t.changed
}

// sums hashes the lines from start on.
func sums(seed maphash.Seed, lines [][]byte, start int) []uint64 {
	all := make([]uint64, len(lines))
	for i := start; i < len(lines); i++ {
		all[i] = maphash.Bytes(seed, lines[i])
	}
	return all
}

func (t *texts) same(x, y int) bool {
	return t.oldSums[x] == t.newSums[y] && bytes.Equal(t.old[x], t.new[y])
}

const (
	// maxSteps bounds the number of lines that differ in one search, and with it the
	// memory: its square, in bytes.
	maxSteps = 512
	// maxCompared bounds the comparisons of one search.
	maxCompared = 1 << 22
)

// search is one run of the greedy algorithm of Myers, "An O(ND) difference algorithm and
// its variations" (1986), from a pair of lines on. ends[d][k+d] is how far in old the
// furthest path of d changed lines gets on diagonal k, counted from the start.
type search struct {
	*texts
	x, y, width, height int
	ends                [][]int32
	compared            int
}

// advance finds changes from (x, y) on, as far as one search gets, and returns where it
// got to: the end, or the furthest point that few enough changes lead to.
func (t *texts) advance(x, y, oldEnd, newEnd int) (int, int) {
	s := search{texts: t, x: x, y: y, width: oldEnd - x, height: newEnd - y}
	k := 0
	for d := 0; ; d++ {
		var done bool
		if k, done = s.round(d); done || d == maxSteps || s.compared > maxCompared {
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
		if x < 0 || x > s.width || x-k > s.height {
			row[k+d] = -1
			continue
		}
		from := x
		for x < s.width && x-k < s.height && s.same(s.x+x, s.y+x-k) {
			x++
		}
		s.compared += x - from + 1
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
