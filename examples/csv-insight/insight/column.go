package insight

import (
	"strings"
	"time"
)

// Column describes the values of one column.
type Column struct {
	Name      string     `json:"name"`
	Position  int        `json:"position"` // from 1
	Type      string     `json:"type"`
	Count     int        `json:"count"` // values that are not null
	Nulls     int        `json:"nulls"`
	Distinct  Distinct   `json:"distinct"`
	Min       any        `json:"min,omitempty"` // a number, or the text of the smallest value
	Max       any        `json:"max,omitempty"`
	Mean      *float64   `json:"mean,omitempty"`
	Quantiles *Quantiles `json:"quantiles,omitempty"`
	TopValues Top        `json:"top_values"`
}

// A column takes in the values of one column, one by one.
type column struct {
	name     string
	position int
	kinds    kind // what all values so far can be
	count    int
	nulls    int
	values   values
	numbers  numbers
	sample   sample
	texts    span
	times    times
}

func newColumn(name string, position int, b *budget, samples int) *column {
	return &column{
		name: name, position: position, kinds: anyKind,
		values: values{budget: b, index: map[string]int{}},
		sample: sample{limit: samples},
	}
}

func (c *column) add(s string) {
	c.count++
	c.values.add(s)
	c.texts.add(s)
	if c.kinds == 0 {
		return
	}
	k, n, at := classify(s)
	c.kinds &= k
	switch {
	case c.kinds&number != 0:
		c.numbers.add(n)
		c.sample.add(n)
	case c.kinds&(date|datetime|timestamp) != 0:
		c.times.add(at, s)
	default:
		c.sample.kept = nil // never needed again
	}
}

// summary ends the column.
func (c *column) summary(top int) Column {
	out := Column{
		Name: c.name, Position: c.position, Type: c.kinds.name(), Count: c.count, Nulls: c.nulls,
		Distinct: c.values.distinct(c.count), TopValues: c.values.top(top),
	}
	switch {
	case c.count == 0:
		out.Type = "empty"
	case c.kinds&number != 0:
		out.Min, out.Max = c.numbers.min, c.numbers.max
		out.Mean = c.numbers.sum.mean(c.count)
		out.Quantiles = c.sample.quantiles()
	case c.kinds&(date|datetime|timestamp) != 0:
		out.Min, out.Max = c.times.first.text, c.times.last.text
	default:
		out.Min, out.Max = shown(c.texts.min), shown(c.texts.max)
	}
	return out
}

// comparedBytes is how much of a long text counts for the smallest and the largest.
const comparedBytes = 1024

// span is the smallest and the largest text, by code points.
type span struct {
	some     bool
	min, max string
}

func (p *span) add(s string) {
	s = s[:min(len(s), comparedBytes)]
	if !p.some || s < p.min {
		p.min = strings.Clone(s)
	}
	if !p.some || s > p.max {
		p.max = strings.Clone(s)
	}
	p.some = true
}

type moment struct {
	at   time.Time
	text string
}

// times is the earliest and the latest moment.
type times struct {
	some        bool
	first, last moment
}

func (t *times) add(at time.Time, s string) {
	if !t.some || at.Before(t.first.at) {
		t.first = moment{at, strings.Clone(s)}
	}
	if !t.some || at.After(t.last.at) {
		t.last = moment{at, strings.Clone(s)}
	}
	t.some = true
}
