package insight

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A budget is what the counted values of all columns may still take.
type budget struct{ left int }

const valueOverhead = 96 // of a counted value beside its bytes: its place in a growing map

// values counts the distinct values of a column: exactly until a bound, from there on
// by an estimate, while the values met before the bound are counted on.
type values struct {
	budget   *budget
	index    map[string]int
	counts   []int
	estimate *estimate // nil while every value is counted
}

func (v *values) add(s string) {
	if i, known := v.index[s]; known {
		v.counts[i]++
		return
	}
	if v.estimate == nil && !v.fits(s) {
		v.estimate = &estimate{}
		for known := range v.index {
			v.estimate.add(known)
		}
	}
	if v.estimate != nil {
		v.estimate.add(s)
		return
	}
	v.budget.left -= len(s) + valueOverhead
	v.index[strings.Clone(s)] = len(v.counts) // a clone: s holds its whole record
	v.counts = append(v.counts, 1)
}

func (v *values) fits(s string) bool {
	return len(v.counts) < trackedValues && len(s)+valueOverhead <= v.budget.left
}

// Distinct is how many different values there are.
type Distinct struct {
	Count int  `json:"count"`
	Exact bool `json:"exact"`
}

// distinct is never estimated below the values that are counted, or above all there are.
func (v *values) distinct(all int) Distinct {
	if v.estimate == nil {
		return Distinct{len(v.counts), true}
	}
	d := v.estimate.distinct()
	d.Count = max(min(d.Count, all), len(v.counts))
	return d
}

// Top are the most frequent values, the most frequent first.
type Top struct {
	Values []TopValue `json:"values"`
	Exact  bool       `json:"exact"` // false: a value first met after the bound may be missing
}

// TopValue is one value and how often it occurs.
type TopValue struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

func (v *values) top(n int) Top {
	all := make([]TopValue, 0, len(v.counts))
	for value, i := range v.index {
		all = append(all, TopValue{value, v.counts[i]})
	}
	slices.SortFunc(all, func(a, b TopValue) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
	})
	top := slices.Clone(all[:min(n, len(all))])
	for i := range top {
		top[i].Value = shown(top[i].Value)
	}
	return Top{top, v.estimate == nil}
}

const smallestKept = 1024

// An estimate keeps the smallest hashes of what it is given. If the k-th smallest of
// evenly spread hashes lies at the fraction f of their range, there are about (k-1)/f
// of them; the standard error with k = 1024 is 3 %.
type estimate struct{ smallest []uint64 }

func (e *estimate) add(s string) {
	h := hash(s)
	if len(e.smallest) == smallestKept && h >= e.smallest[smallestKept-1] {
		return
	}
	i, known := slices.BinarySearch(e.smallest, h)
	if known {
		return
	}
	if len(e.smallest) == smallestKept {
		e.smallest = e.smallest[:smallestKept-1]
	}
	e.smallest = slices.Insert(e.smallest, i, h)
}

func (e *estimate) distinct() Distinct {
	if len(e.smallest) < smallestKept {
		return Distinct{len(e.smallest), true}
	}
	fraction := float64(e.smallest[smallestKept-1]) / math.MaxUint64
	return Distinct{int(math.Round((smallestKept - 1) / fraction)), false}
}

// hash is FNV-1a, with the finish of MurmurHash3 because FNV's upper bits are not
// evenly spread.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// shown cuts a text for a result.
func shown(s string) string {
	n := 0
	for i := range s {
		if n++; n > shownRunes {
			return s[:i] + "…"
		}
	}
	return s
}
