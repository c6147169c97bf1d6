package insight

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// profile runs Profile and renders the result as JSON, with the columns that a test
// does not look at left out.
func profile(t *testing.T, text string, o Options) Result {
	t.Helper()
	r, err := Profile(strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestProfileByHand(t *testing.T) {
	// Sorted amounts: 1 2 3 4 10. Positions p·4: p05 0.2, p25 1, p50 2, p75 3, p95 3.8.
	// So p05 = 1+0.2·1 = 1.2 and p95 = 4+0.8·6 = 8.8; the mean is 20/5.
	text := "name,amount,day,paid\n" +
		"Ada,10,2024-02-29,true\n" +
		"Bob,2,2023-12-31,false\n" +
		"Ada,,,true\n" +
		"Cy,3,2024-01-01,\n" +
		"Ada,4,2024-03-01,true\n" +
		"Bob,1,2024-03-01,true\n"
	want := `{"delimiter":",","rows":6,"truncated":false,"ragged_rows":0,"columns":[
{"name":"name","position":1,"type":"text","count":6,"nulls":0,"distinct":{"count":3,"exact":true},"min":"Ada","max":"Cy",
 "top_values":{"values":[{"value":"Ada","count":3},{"value":"Bob","count":2}],"exact":true}},
{"name":"amount","position":2,"type":"integer","count":5,"nulls":1,"distinct":{"count":5,"exact":true},"min":1,"max":10,"mean":4,
 "quantiles":{"p05":1.2,"p25":2,"p50":3,"p75":4,"p95":8.8,"exact":true},
 "top_values":{"values":[{"value":"1","count":1},{"value":"10","count":1}],"exact":true}},
{"name":"day","position":3,"type":"date","count":5,"nulls":1,"distinct":{"count":4,"exact":true},"min":"2023-12-31","max":"2024-03-01",
 "top_values":{"values":[{"value":"2024-03-01","count":2},{"value":"2023-12-31","count":1}],"exact":true}},
{"name":"paid","position":4,"type":"boolean","count":5,"nulls":1,"distinct":{"count":2,"exact":true},"min":"false","max":"true",
 "top_values":{"values":[{"value":"true","count":4},{"value":"false","count":1}],"exact":true}}]}`
	got, err := json.Marshal(profile(t, text, Options{TopN: 2}))
	if err != nil {
		t.Fatal(err)
	}
	if same, diff := sameJSON(got, []byte(want)); !same {
		t.Errorf("%s\ngot  %s\nwant %s", diff, got, want)
	}
}

// sameJSON compares two documents; numbers may differ in their last digits.
func sameJSON(a, b []byte) (bool, string) {
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		return false, err.Error()
	}
	return sameValue("", x, y)
}

func sameValue(at string, x, y any) (bool, string) {
	switch x := x.(type) {
	case float64:
		if y, ok := y.(float64); ok && math.Abs(x-y) <= 1e-12*math.Abs(y) {
			return true, ""
		}
	case []any:
		y, ok := y.([]any)
		if !ok || len(x) != len(y) {
			return false, fmt.Sprintf("%s: lengths differ", at)
		}
		for i := range x {
			if same, diff := sameValue(fmt.Sprintf("%s/%d", at, i), x[i], y[i]); !same {
				return false, diff
			}
		}
		return true, ""
	case map[string]any:
		y, ok := y.(map[string]any)
		if !ok || len(x) != len(y) {
			return false, fmt.Sprintf("%s: keys differ", at)
		}
		for k := range x {
			if same, diff := sameValue(at+"/"+k, x[k], y[k]); !same {
				return false, diff
			}
		}
		return true, ""
	default:
		if reflect.DeepEqual(x, y) {
			return true, ""
		}
	}
	return false, fmt.Sprintf("%s: %v and %v", at, x, y)
}

func TestForms(t *testing.T) {
	tests := []struct {
		name, text string
		o          Options
		rows       int
		ragged     int
		columns    string // name:type:count:nulls:min:max
	}{
		{"nothing", "", Options{}, 0, 0, ""},
		{"only a mark", "\ufeff", Options{}, 0, 0, ""},
		{"only a header", "a,b\n", Options{}, 0, 0, "a:empty:0:0:: b:empty:0:0::"},
		{"no end of line", "a,b\n1,2", Options{}, 1, 0, "a:integer:1:0:1:1 b:integer:1:0:2:2"},
		{"byte order mark", "\ufeffa\n1\n", Options{}, 1, 0, "a:integer:1:0:1:1"},
		{"mark before a quote", "\ufeff\"a\"\n1\n", Options{}, 1, 0, "a:integer:1:0:1:1"},
		{"CRLF", "a,b\r\n1,x\r\n2,y\r\n", Options{}, 2, 0, "a:integer:2:0:1:2 b:text:2:0:x:y"},
		{"one column", "a\n3\n\n1\n", Options{}, 2, 0, "a:integer:2:0:1:3"}, // a blank line is no record
		{"null in one column", "a\n3\n\"\"\n1\n", Options{}, 3, 0, "a:integer:2:1:1:3"},
		{"quoted line end", "a,b\n\"x\ny\",1\n\"x\r\nz\",2\n", Options{}, 2, 0, "a:text:2:0:x\ny:x\nz b:integer:2:0:1:2"},
		{"quoted quote and delimiter", "a,b\n\"x,\"\"y\",1\n", Options{}, 1, 0, `a:text:1:0:x,"y:x,"y b:integer:1:0:1:1`},
		{"ragged", "a,b\n1\n1,2,3\n4,5\n", Options{}, 3, 2, "a:integer:3:0:1:4 b:integer:2:1:2:5"},
		{"unicode", "größe,名\nä,世界\nz,😀\n", Options{}, 2, 0, "größe:text:2:0:z:ä 名:text:2:0:世界:😀"},
		{"names", ",a, a ,a\n1,2,3,4\n", Options{}, 1, 0, "column_1:integer:1:0:1:1 a:integer:1:0:2:2 a_2:integer:1:0:3:3 a_3:integer:1:0:4:4"},
		{"names that look made", "a_2,a,a\n1,2,3\n", Options{}, 1, 0, "a_2:integer:1:0:1:1 a:integer:1:0:2:2 a_3:integer:1:0:3:3"},
		{"no header", "1,x\n2,y\n", Options{Layout: Layout{NoHeader: true}}, 2, 0, "column_1:integer:2:0:1:2 column_2:text:2:0:x:y"},
		{"no header, ragged", "1,x\n2\n", Options{Layout: Layout{NoHeader: true}}, 2, 1, "column_1:integer:2:0:1:2 column_2:text:1:1:x:x"},
		{"semicolons", "a;b\n1,5;2\n", Options{}, 1, 0, "a:text:1:0:1,5:1,5 b:integer:1:0:2:2"},
		{"tabs", "a\tb,c\td\n1\t2\t3\n", Options{}, 1, 0, "a:integer:1:0:1:1 b,c:integer:1:0:2:2 d:integer:1:0:3:3"},
		{"a tie is for the comma", "a\tb,c\n1\t2\n", Options{}, 1, 1, "a\tb:text:1:0:1\t2:1\t2 c:empty:0:1::"},
		{"delimiter in quotes does not count", "\"a;b;c\",d\n1,2\n", Options{}, 1, 0, "a;b;c:integer:1:0:1:1 d:integer:1:0:2:2"},
		{"given delimiter", "a:b,c\n1:2\n", Options{Layout: Layout{Delimiter: ":"}}, 1, 0, "a:integer:1:0:1:1 b,c:integer:1:0:2:2"},
		{"wide delimiter", "a€b\n1€2\n", Options{Layout: Layout{Delimiter: "€"}}, 1, 0, "a:integer:1:0:1:1 b:integer:1:0:2:2"},
		{"null values", "a,b\nNA,-\nx,\n", Options{Layout: Layout{NullValues: []string{"NA", "-"}}}, 2, 0, "a:text:1:1:x:x b:text:1:1::"},
		{"nothing is null", "a,b\n,1\n", Options{Layout: Layout{NullValues: []string{}}}, 1, 0, "a:text:1:0:: b:integer:1:0:1:1"},
		{"NA is Namibia by default", "c\nNA\nDE\n", Options{}, 2, 0, "c:text:2:0:DE:NA"},
		{"chosen columns", "a,b,c\n1,2,3\n", Options{Columns: []string{"c", "a"}}, 1, 0, "c:integer:1:0:3:3 a:integer:1:0:1:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := profile(t, tt.text, tt.o)
			var columns []string
			for _, c := range r.Columns {
				columns = append(columns, fmt.Sprintf("%s:%s:%d:%d:%s:%s", c.Name, c.Type, c.Count, c.Nulls, edge(c.Min), edge(c.Max)))
			}
			if got := strings.Join(columns, " "); got != tt.columns || r.Rows != tt.rows || r.RaggedRows != tt.ragged {
				t.Errorf("got %d rows, %d ragged, %q\nwant %d rows, %d ragged, %q", r.Rows, r.RaggedRows, got, tt.rows, tt.ragged, tt.columns)
			}
		})
	}
}

func edge(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func TestRefusals(t *testing.T) {
	many := strings.Repeat("a,", maxColumns) + "a\n"
	tests := []struct {
		name, text, code, message string
		o                         Options
	}{
		{"bare quote", "a,b\n1,2\n3,x\"y\n", "bad_csv", `line 3, column 4: bare " in non-quoted-field`, Options{}},
		{"text after a quote", "a\n\"x\"y\n", "bad_csv", `line 2, column 3: extraneous or missing " in quoted-field`, Options{}},
		{"open quote", "a\n1\n\"x\n", "bad_csv", `line 3, column 4: extraneous or missing " in quoted-field`, Options{}},
		{"bad header", "a,b\"\n", "bad_csv", `line 1, column 4: bare " in non-quoted-field`, Options{}},
		{"endless record", "a\n1\n\"" + strings.Repeat("x\n", maxRecordBytes), "record_too_long", "the record after line 2 is longer than 1048576 bytes: is a quote not closed?", Options{}},
		{"endless header", strings.Repeat("x", 2*maxRecordBytes), "record_too_long", "the record after line 0 is longer than 1048576 bytes: is a quote not closed?", Options{}},
		{"too many columns", many, "too_many_columns", `the first record has 257 fields, the limit is 256: is "," the delimiter?`, Options{}},
		{"unknown column", "a,b\n", "unknown_column", `there is no column "c"; there are: a, b`, Options{Columns: []string{"a", "c"}}},
		{"unknown of many", strings.Repeat("x,", 29) + "x\n", "unknown_column", `there is no column "y"; there are: x, x_2, x_3, x_4, x_5, x_6, x_7, x_8, x_9, x_10, x_11, x_12, x_13, x_14, x_15, x_16, x_17, x_18, x_19, x_20, …`, Options{Columns: []string{"y"}}},
		{"delimiter of two", "a\n", "bad_delimiter", `the delimiter ";;" is not one character that may separate fields`, Options{Layout: Layout{Delimiter: ";;"}}},
		{"quote as delimiter", "a\n", "bad_delimiter", `the delimiter "\"" is not one character that may separate fields`, Options{Layout: Layout{Delimiter: `"`}}},
		{"no UTF-8 as delimiter", "a\n", "bad_delimiter", `the delimiter "\xff" is not one character that may separate fields`, Options{Layout: Layout{Delimiter: "\xff"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Profile(strings.NewReader(tt.text), tt.o)
			var own *Error
			if !errors.As(err, &own) || own.Code != tt.code || own.Message != tt.message {
				t.Errorf("got  %v\nwant %s: %s", err, tt.code, tt.message)
			}
		})
	}
}

// Quotes may span the pieces in which a file arrives.
func TestPiecesDoNotMatter(t *testing.T) {
	text := "\ufeffa;b\r\n\"x;\r\n\"\"y\"\"\";1\r\n世界;2\r\n;3\r\n"
	want := profile(t, text, Options{})
	for name, r := range map[string]io.Reader{
		"byte by byte":  iotest.OneByteReader(strings.NewReader(text)),
		"half by half":  iotest.HalfReader(strings.NewReader(text)),
		"end with data": iotest.DataErrReader(strings.NewReader(text)),
	} {
		if got, err := Profile(r, Options{}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
}

func TestReaderErrorsPass(t *testing.T) {
	refused := errors.New("refused")
	for _, before := range []string{"", "a,b\n", "a,b\n1,2\n", "a,b\n\"1"} {
		_, err := Profile(io.MultiReader(strings.NewReader(before), iotest.ErrReader(refused)), Options{})
		if !errors.Is(err, refused) {
			t.Errorf("after %q: got %v", before, err)
		}
	}
}

func TestMaxRows(t *testing.T) {
	text := "a\n1\n2\n3\n"
	for max, want := range map[int]struct {
		rows      int
		truncated bool
	}{1: {1, true}, 2: {2, true}, 3: {3, false}, 4: {3, false}, 0: {3, false}} {
		r := profile(t, text, Options{Layout: Layout{MaxRows: max}})
		if r.Rows != want.rows || r.Truncated != want.truncated {
			t.Errorf("at most %d rows: got %d, truncated %v", max, r.Rows, r.Truncated)
		}
	}
}

func FuzzProfile(f *testing.F) {
	for _, seed := range []string{"", "\ufeffa,b\n1,2\n", "a\n\"", "\"a\"\"\"\n", "a,a,\n,,,\n", "a\n-0\n1e308\n-1e308\n", "a\n2024-02-30\n", "\xff\xfe\n"} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, header bool) {
		r, err := Profile(strings.NewReader(text), Options{Layout: Layout{NoHeader: !header}})
		if err != nil {
			return
		}
		for _, c := range r.Columns {
			if c.Count+c.Nulls != r.Rows || c.Distinct.Count > c.Count {
				t.Errorf("%d rows, but %+v", r.Rows, c)
			}
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}
