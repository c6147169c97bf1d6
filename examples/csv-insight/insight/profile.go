package insight

import "io"

// Options of a profile. The zero value profiles every column.
type Options struct {
	Layout
	Columns []string // by name; empty means all
	TopN    int      // how many of the most frequent values; 0 means 5
}

// Result describes a file.
type Result struct {
	Delimiter  string   `json:"delimiter"`
	Rows       int      `json:"rows"`
	Truncated  bool     `json:"truncated"`   // there are more rows than MaxRows
	RaggedRows int      `json:"ragged_rows"` // with more or fewer fields than the header
	Columns    []Column `json:"columns"`
}

// Profile reads a CSV file and describes its columns.
func Profile(r io.Reader, o Options) (Result, error) {
	t, err := openTable(r, o.Layout)
	if err != nil {
		return Result{}, err
	}
	columns, err := chosen(t, o.Columns)
	if err != nil {
		return Result{}, err
	}
	if err := fill(t, columns); err != nil {
		return Result{}, err
	}
	if o.TopN == 0 {
		o.TopN = 5
	}
	out := Result{t.delimiter, t.rows, t.truncated, t.ragged, make([]Column, 0, len(columns))}
	for _, c := range columns {
		out.Columns = append(out.Columns, c.summary(o.TopN))
	}
	return out, nil
}

func chosen(t *table, names []string) ([]*column, error) {
	if len(names) == 0 {
		names = t.names
	}
	b := &budget{trackedBytes}
	samples := min(sampledNumbers, allSamples/max(len(names), 1))
	columns := make([]*column, 0, len(names))
	for _, name := range names {
		i, err := t.find(name)
		if err != nil {
			return nil, err
		}
		columns = append(columns, newColumn(name, i+1, b, samples))
	}
	return columns, nil
}

func fill(t *table, columns []*column) error {
	for {
		record, err := t.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for _, c := range columns {
			if value, ok := t.field(record, c.position-1); ok {
				c.add(value)
			} else {
				c.nulls++
			}
		}
	}
}
