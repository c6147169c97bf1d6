package insight

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A table yields the records of a CSV file (RFC 4180, any line ends, a byte order mark
// allowed). Records may be ragged: a missing field is null, a surplus one is ignored.
type table struct {
	delimiter string
	names     []string
	rows      int
	ragged    int
	truncated bool

	maxRows int
	nulls   map[string]bool
	guard   *guard
	csv     *csv.Reader
	first   []string // the first record, where it is data
	line    int      // where the last good record began
}

func openTable(r io.Reader, l Layout) (*table, error) {
	g := &guard{r: r}
	b := bufio.NewReaderSize(g, readAhead)
	g.allow(maxRecordBytes)
	t := &table{guard: g, maxRows: l.MaxRows, nulls: nullSet(l.NullValues)}
	if t.maxRows == 0 {
		t.maxRows = defaultMaxRows
	}
	if err := skipMark(b); err != nil {
		return nil, err
	}
	delimiter, err := delimiterOf(b, l.Delimiter)
	if err != nil {
		return nil, err
	}
	t.delimiter = string(delimiter)
	t.csv = csv.NewReader(b)
	t.csv.Comma, t.csv.FieldsPerRecord, t.csv.ReuseRecord = delimiter, -1, true
	return t, t.readNames(l.NoHeader)
}

func nullSet(values []string) map[string]bool {
	if values == nil {
		return map[string]bool{"": true}
	}
	set := map[string]bool{}
	for _, v := range values {
		set[v] = true
	}
	return set
}

func (t *table) readNames(noHeader bool) error {
	record, err := t.read()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	if len(record) > maxColumns {
		return fail("too_many_columns", "the first record has %d fields, the limit is %d: is %q the delimiter?", len(record), maxColumns, t.delimiter)
	}
	if noHeader {
		t.first = record
		record = make([]string, len(record))
	}
	t.names = uniqueNames(record)
	return nil
}

// uniqueNames names the nameless by position and numbers what repeats.
func uniqueNames(header []string) []string {
	names, taken := make([]string, len(header)), map[string]bool{}
	for i, name := range header {
		name = strings.TrimSpace(name)
		if name == "" {
			name = fmt.Sprintf("column_%d", i+1)
		}
		free := name
		for n := 2; taken[free]; n++ {
			free = fmt.Sprintf("%s_%d", name, n)
		}
		names[i], taken[free] = free, true
	}
	return names
}

// next returns the next record, good until the call after it, or io.EOF.
func (t *table) next() ([]string, error) {
	record, err := t.first, error(nil)
	if t.first = nil; record == nil {
		record, err = t.read()
	}
	if err != nil {
		return nil, err
	}
	if t.rows == t.maxRows {
		t.truncated = true
		return nil, io.EOF
	}
	t.rows++
	if len(record) != len(t.names) {
		t.ragged++
	}
	return record, nil
}

func (t *table) read() ([]string, error) {
	t.guard.allow(maxRecordBytes + readAhead)
	record, err := t.csv.Read()
	var syntax *csv.ParseError
	switch {
	case errors.Is(err, errTooLong):
		return nil, fail("record_too_long", "the record after line %d is longer than %d bytes: is a quote not closed?", t.line, maxRecordBytes)
	case errors.As(err, &syntax):
		return nil, fail("bad_csv", "line %d, column %d: %v", syntax.Line, syntax.Column, syntax.Err)
	case err != nil:
		return nil, err
	}
	t.line, _ = t.csv.FieldPos(0)
	return record, nil
}

// field returns a record's field and whether it is a value.
func (t *table) field(record []string, i int) (string, bool) {
	if i >= len(record) || t.nulls[record[i]] {
		return "", false
	}
	return record[i], true
}

func (t *table) find(name string) (int, error) {
	if i := slices.Index(t.names, name); i >= 0 {
		return i, nil
	}
	var known []string
	for _, n := range t.names[:min(len(t.names), 20)] {
		known = append(known, shown(n))
	}
	if len(t.names) > len(known) {
		known = append(known, "…")
	}
	return 0, fail("unknown_column", "there is no column %q; there are: %s", shown(name), strings.Join(known, ", "))
}
