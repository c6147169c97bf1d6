//go:build !wasip1

package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	air "github.com/aircoding/air/sdk/go"
)

const facts = "data/timezone-transitions.csv"

func run(t *testing.T, root, tool, input, config string, into any) error {
	t.Helper()
	host, err := air.Dir(root, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	out, err := air.Run(host, tool, json.RawMessage(input), json.RawMessage(config))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatal(err)
	}
	return nil
}

// The expected figures were worked out by another program (Python's csv and statistics).
func TestProfileOfTheFacts(t *testing.T) {
	var got profileOutput
	if err := run(t, ".", "csv-insight.profile", `{"path":"`+facts+`"}`, "", &got); err != nil {
		t.Fatal(err)
	}
	want := []struct {
		name, kind      string
		nulls, distinct int
		top             string
		count           int
	}{
		{"zone", "text", 0, 211, "Africa/Casablanca", 50},
		{"countries", "text", 0, 90, "US", 1098},
		{"latitude", "number", 0, 208, "53.3333", 84},
		{"longitude", "number", 0, 209, "20.5000", 56},
		{"comment", "text", 1748, 145, "West Bank", 44},
		{"transition", "timestamp", 0, 1454, "2007-03-25T01:00:00Z", 39},
		{"abbreviation", "text", 0, 73, "EEST", 374},
		{"dst", "boolean", 0, 2, "false", 2942},
		{"offset_before", "integer", 0, 39, "7200", 774},
		{"offset_after", "integer", 0, 39, "7200", 771},
		{"change", "integer", 0, 10, "3600", 2807},
	}
	if got.Rows != 5758 || got.RaggedRows != 0 || got.Truncated || len(got.Columns) != len(want) {
		t.Fatalf("got %d rows, %d ragged, %d columns", got.Rows, got.RaggedRows, len(got.Columns))
	}
	for i, w := range want {
		c := got.Columns[i]
		top := c.TopValues.Values[0]
		if c.Name != w.name || c.Type != w.kind || c.Nulls != w.nulls || c.Distinct.Count != w.distinct ||
			top.Value != w.top || top.Count != w.count {
			t.Errorf("got %+v, want %+v", c, w)
		}
	}
	latitude := got.Columns[2]
	q := latitude.Quantiles
	if latitude.Min != -78.4 || latitude.Max != 76.5667 || q.P05 != -42.8833 || q.P50 != 41.0514 || q.P95 != 64.5011 {
		t.Errorf("latitude: got %v to %v, %+v", latitude.Min, latitude.Max, *q)
	}
}

func TestGroupsOfTheFacts(t *testing.T) {
	var got groupOutput
	input := `{"path":"` + facts + `","by":"abbreviation","value":"offset_after","limit":3}`
	if err := run(t, ".", "csv-insight.group", input, `{"piece_lines":100}`, &got); err != nil {
		t.Fatal(err)
	}
	want := []struct {
		key  string
		rows int
		sum  float64
	}{{"EEST", 374, 4039200}, {"EET", 373, 2685600}, {"CEST", 341, 2455200}}
	if got.GroupCount != 73 || len(got.Groups.Groups) != len(want) {
		t.Fatalf("got %d groups, %d shown", got.GroupCount, len(got.Groups.Groups))
	}
	for i, w := range want {
		if g := got.Groups.Groups[i]; *g.Key != w.key || g.Rows != w.rows || *g.Sum != w.sum {
			t.Errorf("got %s %d %v, want %+v", *g.Key, g.Rows, *g.Sum, w)
		}
	}
}

func TestInputsAndConfiguration(t *testing.T) {
	root := t.TempDir()
	text := "NA;1\nDE;-\n"
	if err := os.WriteFile(filepath.Join(root, "a.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var got profileOutput
	config := `{"null_values":["-"],"top_n":1}`
	if err := run(t, root, "profile", `{"path":"a.csv","has_header":false,"delimiter":";","max_rows":9}`, config, &got); err != nil {
		t.Fatal(err)
	}
	if got.Rows != 2 || got.Columns[0].Nulls != 0 || got.Columns[1].Nulls != 1 || len(got.Columns[0].TopValues.Values) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestFailures(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"bad.csv": "a\n\"x\"y\n", "binary.csv": "a\x00b", "ok.csv": "a\n1\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ name, tool, input, config, code, message string }{
		{"syntax", "profile", `{"path":"bad.csv"}`, "", "bad_csv", "line 2, column 3"},
		{"no text", "profile", `{"path":"binary.csv"}`, "", "not_text", "binary.csv"},
		{"missing", "group", `{"path":"none.csv","by":"a"}`, "", "call_failed", "fs.read"},
		{"outside", "profile", `{"path":"../x.csv"}`, "", "call_failed", "fs.stat"},
		{"column", "group", `{"path":"ok.csv","by":"b"}`, "", "unknown_column", "there are: a"},
		{"unknown input", "profile", `{"path":"ok.csv","colums":["a"]}`, "", "bad_input", "colums"},
		{"unknown configuration", "profile", `{"path":"ok.csv"}`, `{"topn":1}`, "bad_config", "topn"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var own *air.Error
			err := run(t, root, tt.tool, tt.input, tt.config, &struct{}{})
			if !errors.As(err, &own) || own.Code != tt.code || !strings.Contains(own.Message, tt.message) {
				t.Errorf("got %v, want %s with %q", err, tt.code, tt.message)
			}
		})
	}
}

// The manifest and the code agree on the names of the tools.
func TestTheManifestNamesTheTools(t *testing.T) {
	doc, err := os.ReadFile("capability.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal(doc, &manifest); err != nil {
		t.Fatal(err)
	}
	for _, tool := range manifest.Tools {
		var own *air.Error
		err := run(t, ".", tool.Name, `{"path":"none.csv"}`, "", &struct{}{})
		if !errors.As(err, &own) || own.Code == "unknown_tool" {
			t.Errorf("%s: got %v", tool.Name, err)
		}
	}
}
