package insight

import (
	"cmp"
	"io"
	"slices"
	"strings"
)

// GroupOptions say by which column to group and what to sum up.
type GroupOptions struct {
	Layout
	By    string
	Value string // a column of numbers; "" only counts rows
	Limit int    // groups to return, the largest first; 0 means 20
}

// Groups are the rows of a file, grouped by the values of one column.
type Groups struct {
	Delimiter  string  `json:"delimiter"`
	Rows       int     `json:"rows"`
	Truncated  bool    `json:"truncated"`
	RaggedRows int     `json:"ragged_rows"`
	GroupCount int     `json:"group_count"` // also those beyond the limit
	NotNumeric int     `json:"not_numeric"` // values that are neither null nor a number, left out
	Groups     []Group `json:"groups"`
}

// Group is the rows that share a key. A nil key is null. The figures are those of the
// numbers in the value column, absent where there are none.
type Group struct {
	Key     *string  `json:"key"`
	Rows    int      `json:"rows"`
	Numbers int      `json:"numbers"`
	Sum     *float64 `json:"sum,omitempty"`
	Mean    *float64 `json:"mean,omitempty"`
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
}

// GroupRows reads a CSV file and sums it up by group.
func GroupRows(r io.Reader, o GroupOptions) (Groups, error) {
	t, err := openTable(r, o.Layout)
	if err != nil {
		return Groups{}, err
	}
	g := grouper{table: t, value: -1, groups: map[string]*group{}}
	if g.by, err = t.find(o.By); err != nil {
		return Groups{}, err
	}
	if o.Value != "" {
		if g.value, err = t.find(o.Value); err != nil {
			return Groups{}, err
		}
	}
	if err := g.fill(); err != nil {
		return Groups{}, err
	}
	if o.Limit == 0 {
		o.Limit = 20
	}
	return g.result(o.Limit), nil
}

type group struct {
	rows    int
	numbers numbers
}

type grouper struct {
	table      *table
	by, value  int
	groups     map[string]*group
	null       group
	notNumeric int
	bytes      int
}

func (g *grouper) fill() error {
	for {
		record, err := g.table.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		into, err := g.group(record)
		if err != nil {
			return err
		}
		into.rows++
		g.add(into, record)
	}
}

func (g *grouper) group(record []string) (*group, error) {
	key, ok := g.table.field(record, g.by)
	if !ok {
		return &g.null, nil
	}
	if into := g.groups[key]; into != nil {
		return into, nil
	}
	g.bytes += len(key)
	if len(g.groups) == maxGroups || g.bytes > trackedBytes {
		return nil, fail("too_many_groups", "column %q has more than %d groups, or their names more than %d bytes, by row %d",
			g.table.names[g.by], maxGroups, trackedBytes, g.table.rows)
	}
	into := &group{}
	g.groups[strings.Clone(key)] = into // a clone: key holds its whole record
	return into, nil
}

func (g *grouper) add(into *group, record []string) {
	if g.value < 0 {
		return
	}
	value, ok := g.table.field(record, g.value)
	if !ok {
		return
	}
	k, n := parseNumber(value)
	if k == 0 {
		g.notNumeric++
		return
	}
	into.numbers.add(n)
}

func (g *grouper) result(limit int) Groups {
	keys := g.sorted()
	out := Groups{
		Delimiter: g.table.delimiter, Rows: g.table.rows, Truncated: g.table.truncated, RaggedRows: g.table.ragged,
		GroupCount: len(keys), NotNumeric: g.notNumeric, Groups: make([]Group, 0, min(limit, len(keys))),
	}
	for _, k := range keys[:min(limit, len(keys))] {
		out.Groups = append(out.Groups, k.summary())
	}
	return out
}

// A keyed group has the key nil for null.
type keyed struct {
	key *string
	*group
}

// sorted has the largest group first, and equal ones by key, null before all.
func (g *grouper) sorted() []keyed {
	all := make([]keyed, 0, len(g.groups)+1)
	if g.null.rows > 0 {
		all = append(all, keyed{nil, &g.null})
	}
	for key, in := range g.groups {
		all = append(all, keyed{&key, in})
	}
	slices.SortFunc(all, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), compareKeys(a.key, b.key))
	})
	return all
}

func compareKeys(a, b *string) int {
	switch {
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return strings.Compare(*a, *b)
}

func (k keyed) summary() Group {
	out := Group{Rows: k.rows, Numbers: k.numbers.count}
	if k.key != nil {
		key := shown(*k.key)
		out.Key = &key
	}
	if out.Numbers > 0 {
		out.Sum, out.Mean = k.numbers.sum.value(), k.numbers.sum.mean(out.Numbers)
		out.Min, out.Max = &k.numbers.min, &k.numbers.max
	}
	return out
}
