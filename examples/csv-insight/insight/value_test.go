package insight

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestTypes(t *testing.T) {
	tests := []struct {
		values string // separated by blanks
		want   string
	}{
		{"1 -1 0 9007199254740991 -9007199254740991", "integer"},
		{"9007199254740992", "text"},
		{"12345678901234567890", "text"},
		{"1 2.5", "number"},
		{"1e3", "number"},
		{"-0.5 1E-7 1e+2 0.0", "number"},
		{"1e999", "text"},
		{"007", "text"},
		{"00", "text"},
		{"0", "integer"},
		{"-0", "integer"},
		{"+1", "text"},
		{"1.", "text"},
		{".5", "text"},
		{"-", "text"},
		{"1e", "text"},
		{"1e+", "text"},
		{"0x10", "text"},
		{"1_000", "text"},
		{"Inf NaN", "text"},
		{"1 true", "text"},
		{"true FALSE True", "boolean"},
		{"tRue", "text"},
		{"2024-02-29", "date"},
		{"2023-02-29", "text"},
		{"2024-2-9", "text"},
		{"2024-02-29T12:00:00Z 2024-02-29T12:00:00.5+02:00", "timestamp"},
		{"2024-02-29T12:00:00 2024-02-29T12:00", "datetime"},
		{"2024-02-29T12:00:00 2024-02-29T12:00:00Z", "text"}, // cannot be ordered
		{"2024-02-29 2024-02-29T12:00:00", "text"},
		{"2024-02-29T24:00:00Z", "text"},
		{"2024-02-29 1", "text"},
	}
	for _, tt := range tests {
		r := profile(t, "a\n"+strings.ReplaceAll(tt.values, " ", "\n")+"\n", Options{})
		if got := r.Columns[0].Type; got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.values, got, tt.want)
		}
	}
}

func TestTimesAreOrderedAsMoments(t *testing.T) {
	r := profile(t, "t\n2024-01-01T00:30:00+02:00\n2024-01-01T00:00:00Z\n2023-12-31T23:00:00-05:00\n", Options{})
	c := r.Columns[0] // in UTC: 22:30 the day before, 00:00, 04:00
	if c.Min != "2024-01-01T00:30:00+02:00" || c.Max != "2023-12-31T23:00:00-05:00" {
		t.Errorf("got %v to %v", c.Min, c.Max)
	}
	r = profile(t, "t\n2024-01-01 10:00\n2024-01-01T09:59:59\n", Options{})
	if c := r.Columns[0]; c.Type != "datetime" || c.Min != "2024-01-01T09:59:59" {
		t.Errorf("got %s from %v", c.Type, c.Min)
	}
}

func TestQuantile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(i + 1)
	}
	tests := []struct {
		name    string
		numbers []float64
		p, want float64
	}{
		{"one", []float64{7}, .95, 7},
		{"two", []float64{1, 2}, .25, 1.25},
		{"median of four", []float64{1, 2, 3, 10}, .5, 2.5},
		{"type 7 at 5 %", hundred, .05, 5.95},   // position 4.95: between 5 and 6
		{"type 7 at 95 %", hundred, .95, 95.05}, // position 94.05: between 95 and 96
		{"equal neighbours", []float64{.1, .1}, .3, .1},
		{"widest", []float64{-math.MaxFloat64, math.MaxFloat64}, .5, 0},
	}
	for _, tt := range tests {
		if got := quantile(tt.numbers, tt.p); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestMean(t *testing.T) {
	tests := []struct {
		name, values string
		want         float64
	}{
		{"compensated", strings.Repeat("0.1\n", 10), 0.1},
		{"large and small", "1e16\n1\n-1e16\n", 1.0 / 3},
		{"negative zero", "-0.0\n", 0},
	}
	for _, tt := range tests {
		r := profile(t, "a\n"+tt.values, Options{})
		if got := *r.Columns[0].Mean; got != tt.want || math.Signbit(got) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	if c := profile(t, "a\n1.7e308\n1.7e308\n", Options{}).Columns[0]; c.Mean != nil || c.Max != 1.7e308 {
		t.Errorf("a mean whose sum is too large: got %v", *c.Mean)
	}
}

// The bounds are reached with 30,000 rows: exact counts, quantiles and top values end.
func TestBeyondTheBounds(t *testing.T) {
	const rows = 30_000
	var text strings.Builder
	text.WriteString("id,often\n")
	for i := range rows {
		often := fmt.Sprintf("v%d", i)
		if i%3 == 0 {
			often = "usual"
		}
		fmt.Fprintf(&text, "%d,%s\n", i, often)
	}
	r := profile(t, text.String(), Options{TopN: 1})
	id, often := r.Columns[0], r.Columns[1]
	if id.Distinct.Exact || math.Abs(float64(id.Distinct.Count)-rows) > .1*rows {
		t.Errorf("id: %+v distinct, want about %d", id.Distinct, rows)
	}
	if *id.Mean != (rows-1)/2.0 || id.Min != 0.0 || id.Max != rows-1.0 {
		t.Errorf("id: mean %v, %v to %v", *id.Mean, id.Min, id.Max)
	}
	if q := id.Quantiles; q.Exact || math.Abs(q.P50-rows/2) > .02*rows || math.Abs(q.P95-.95*rows) > .02*rows {
		t.Errorf("id: quantiles %+v", *q)
	}
	if top := often.TopValues; top.Exact || top.Values[0] != (TopValue{"usual", rows / 3}) {
		t.Errorf("often: %+v", top)
	}
	again := profile(t, text.String(), Options{TopN: 1})
	if *again.Columns[0].Quantiles != *id.Quantiles {
		t.Error("a second run draws another sample")
	}
}

func TestTheBudgetOfAllColumns(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b\n")
	long := strings.Repeat("x", 5000)
	for i := range 1500 {
		fmt.Fprintf(&text, "%d%s,%d\n", i, long, i%7)
	}
	r := profile(t, text.String(), Options{})
	// 6 MiB hold about 1,230 of these values, and then none of another column's.
	if a := r.Columns[0]; a.TopValues.Exact || a.Distinct.Count < 1200 || a.Distinct.Count > 1500 {
		t.Errorf("a: %+v", a.Distinct)
	}
	if b := r.Columns[1]; b.Distinct != (Distinct{7, true}) {
		t.Errorf("b: %+v", b.Distinct)
	}
	if shown := r.Columns[0].TopValues.Values[0].Value; len([]rune(shown)) != shownRunes+1 || !strings.HasSuffix(shown, "…") {
		t.Errorf("a long value is shown as %q", shown)
	}
}
