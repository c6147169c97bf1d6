package yamldoc_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/yamldoc"
)

func TestToJSON(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"", "null"},
		{"# only a comment\n", "null"},
		{"---\n", "null"},
		{"a: 1\nb: [x, 'y', \"z\"]\n", `{"a":1,"b":["x","y","z"]}`},
		{"t: true\nf: FALSE\nn: null\ntilde: ~\nempty:\n", `{"t":true,"f":false,"n":null,"tilde":null,"empty":null}`},
		// YAML 1.1 readers would make booleans of these.
		{"yes: no\non: off\ny: n\n", `{"yes":"no","on":"off","y":"n"}`},
		{"d: 2024-01-01\nv: 1.2.3\n", `{"d":"2024-01-01","v":"1.2.3"}`},
		{"2024-01-01: x\n", `{"2024-01-01":"x"}`},
		{"- -1\n- 0.5\n- 1e3\n- -0\n", `[-1,0.5,1e3,-0]`},
		{"quoted: '0x1F'\nnumber: \"12\"\n", `{"quoted":"0x1F","number":"12"}`},
		{"text: |\n  a\n  b\nfold: >-\n  a\n  b\n", `{"text":"a\nb\n","fold":"a b"}`},
		{`{"json": ["is", {"yaml": 1}], "html": "<&>"}`, `{"json":["is",{"yaml":1}],"html":"<&>"}`},
		{"'1': a\n\"true\": b\n", `{"1":"a","true":"b"}`},
		{"emoji: \U0001F600\nescaped: \"\\u0041\"\n", `{"emoji":"😀","escaped":"A"}`},
	} {
		got, _, err := yamldoc.ToJSON([]byte(c.yaml))
		if err != nil || string(got) != c.want {
			t.Errorf("%q: got %s, %v; want %s", c.yaml, got, err, c.want)
		}
	}
}

func TestToJSONRefuses(t *testing.T) {
	deep := strings.Repeat("[", 33) + strings.Repeat("]", 33)
	for _, c := range []struct {
		yaml string
		line int
		want string
	}{
		{"a: &x 1\nb: 2\n", 1, "anchors"},
		{"a: 1\nb: *x\n", 0, "unknown anchor"},
		{"a: &x {k: v}\nb:\n  <<: *x\n", 1, "anchors"},
		{"b:\n  <<: {k: v}\n", 2, "merging"},
		{"&k a: 1\n", 1, "anchors"},
		{"- <<\n", 1, "merging"},
		{"a: 1\nb: 2\na: 3\n", 3, `duplicate key "a", first on line 1`},
		{"a: 1\n\"a\": 3\n", 2, "duplicate key"},
		{"a: !!str 5\n", 1, "tags"},
		{"a: !custom {}\n", 1, "tags"},
		{"a: !!binary aGk=\n", 1, "tags"},
		{"!!str a: 5\n", 1, "plain or quoted"},
		{"? [a, b]\n: c\n", 1, "plain or quoted"},
		{"x: 1\n1: a\n", 2, "quote it"},
		{"true: a\n", 1, "quote it"},
		{"~: a\n", 1, "quote it"},
		{"mode: 0644\n", 1, "decimal"},
		{"mode: 0o644\n", 1, "decimal"},
		{"mode: 0x1F\n", 1, "decimal"},
		{"mode: 1_000\n", 1, "decimal"},
		{"mode: +1\n", 1, "decimal"},
		{"mode: .5\n", 1, "decimal"},
		{"mode: 5.\n", 1, "decimal"},
		{"mode: .inf\n", 1, "decimal"},
		{"mode: .nan\n", 1, "decimal"},
		{"mode: 9007199254740993\n", 0, "2^53"},
		{"mode: 1e999999\n", 0, "exponent"},
		{"a: 1\n---\nb: 2\n", 2, "second document"},
		{"a: [1, 2\n", 0, ""},
		{"\ta: 1\n", 0, ""},
		{"a: \x00\n", 0, ""},
		{"a: \xff\n", 0, ""},
		{deep, 1, "deeper than 32"},
		{strings.Repeat("[", 100_000), 0, ""},
		{strings.Repeat("a: 1\n", 100_000), 0, "limit"},
		{"__proto__: 1\n", 0, "refused"},
	} {
		_, _, err := yamldoc.ToJSON([]byte(c.yaml))
		var wrong *yamldoc.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%.40q: got %v", c.yaml, err)
			continue
		}
		if c.line != 0 && wrong.Line != c.line || !strings.Contains(wrong.Reason, c.want) {
			t.Errorf("%.40q: got line %d %q; want line %d %q", c.yaml, wrong.Line, wrong.Reason, c.line, c.want)
		}
	}
}

// A billion laughs: nine levels of nine references each.
func TestAliasBomb(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		before := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+before+",", 8) + "*" + before + "]\n"
	}
	start := time.Now()
	if _, _, err := yamldoc.ToJSON([]byte(bomb)); err == nil || time.Since(start) > time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

// One long key above very many values must not cost their product.
func TestLongKeyAboveManyValues(t *testing.T) {
	start := time.Now()
	key, values := strings.Repeat("k", 100<<10), strings.Repeat("1,", 70_000)+"1"
	if _, _, err := yamldoc.ToJSON([]byte(key + ": [" + values + "]")); err == nil {
		t.Error("yaml: accepted")
	}
	var into map[string][]int
	key, values = strings.Repeat("k", 1<<20), strings.Repeat("1,", 100_000)+"1"
	if err := yamldoc.DecodeJSON([]byte(`{"`+key+`":[`+values+`]}`), &into); err == nil {
		t.Error("json: accepted")
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestLines(t *testing.T) {
	_, lines, err := yamldoc.ToJSON([]byte("# rules\na: 1\nlist:\n  - x: 1\n    y/z: 2\n  -\n    x: 3\n"))
	want := yamldoc.Lines{"": 2, "/a": 2, "/list": 3, "/list/0": 4, "/list/0/x": 4, "/list/0/y~1z": 5, "/list/1": 7, "/list/1/x": 7}
	if err != nil || !reflect.DeepEqual(lines, want) {
		t.Errorf("got %v, %v", lines, err)
	}
}

type rules struct {
	SchemaVersion int               `json:"schema_version"`
	Mode          string            `json:"mode,omitempty"`
	Rules         []rule            `json:"rules"`
	Named         map[string]rule   `json:"named"`
	Raw           json.RawMessage   `json:"raw"`
	Optional      *rule             `json:"optional"`
	Labels        map[string]string `json:"labels"`
	Common
	hidden int
}

type rule struct {
	Allow   string  `json:"allow"`
	Count   uint    `json:"count"`
	Ratio   float64 `json:"ratio"`
	Enabled bool    `json:"enabled"`
}

type Common struct {
	Note string `json:"note"`
}

func TestDecode(t *testing.T) {
	var got rules
	_, lines, err := yamldoc.Decode([]byte(`schema_version: 1
mode: read-only
rules:
  - {allow: a, count: 2, ratio: 0.5, enabled: true}
named: {x: {allow: b}}
raw: {any: {thing: [1]}}
optional: {allow: c}
labels: {Mode: free}
note: n
`), &got)
	want := rules{SchemaVersion: 1, Mode: "read-only", Rules: []rule{{"a", 2, 0.5, true}}, Named: map[string]rule{"x": {Allow: "b"}},
		Raw: json.RawMessage(`{"any":{"thing":[1]}}`), Optional: &rule{Allow: "c"}, Labels: map[string]string{"Mode": "free"}, Common: Common{"n"}}
	if err != nil || !reflect.DeepEqual(got, want) || lines["/rules/0"] != 4 {
		t.Errorf("got %+v, %v, %v", got, lines, err)
	}
	var empty rules
	if _, _, err := yamldoc.Decode(nil, &empty); err != nil || !reflect.DeepEqual(empty, rules{}) {
		t.Errorf("empty document: %+v, %v", empty, err)
	}
	_ = empty.hidden
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"schema_version: 1\nmodes: x\n", `line 2: unknown key "modes", did you mean "mode"?`},
		{"Mode: x\n", `line 1: unknown key "Mode", did you mean "mode"?`},
		{"schemaVersion: 1\n", `line 1: unknown key "schemaVersion", did you mean "schema_version"?`},
		{"hidden: 1\n", `line 1: unknown key "hidden", known here: labels, mode, named, note, optional, raw, rules, schema_version`},
		{"Common: {}\n", `line 1: unknown key "Common", known here: labels, mode, named, note, optional, raw, rules, schema_version`},
		{"rules:\n  - allow: a\n    alow: b\n", `line 3: unknown key "alow", did you mean "allow"?`},
		{"named:\n  x:\n    cuont: 1\n", `line 3: unknown key "cuont", did you mean "count"?`},
		{"optional:\n\n  enable: true\n", `line 3: unknown key "enable", did you mean "enabled"?`},
		{"schema_version: one\n", `line 1: /schema_version: got a string, want a whole number`},
		{"rules:\n  - allow: a\n  - allow: a\n    count: -1\n", `line 4: /rules/1/count: got the number -1, want a whole number, not negative`},
		{"mode: x\nrules: {}\n", `line 2: /rules: got an object, want a list`},
		{"mode: x\n\nnamed: [1]\n", `line 3: /named: got a list, want an object`},
		{"rules:\n- x\n", `line 2: /rules/0: got a string, want an object`},
		{"mode:\n  - x\n", `line 1: /mode: got a list, want a string`},
		{"labels:\n  a: b\n  c: 1\n", `line 3: /labels/c: got the number 1, want a string`},
		{"- a\n", `line 1: document: got a list, want an object`},
		{"rules: [{enabled: yes}]\n", `line 1: /rules/0/enabled: got a string, want true or false`},
		{"schema_version: 1.5\n", `line 1: /schema_version: got the number 1.5, want a whole number`},
	} {
		var into rules
		_, _, err := yamldoc.Decode([]byte(c.yaml), &into)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.yaml, err, c.want)
		}
	}
}

func TestDecodeJSON(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{"{\"schema_version\":1,\n\"rules\":[{\"allow\":\"a\"}]}", ""},
		{"{\n\"schema_version\":1,\n\n\"rulez\":[]}", `line 4: unknown key "rulez", did you mean "rules"?`},
		{"{\n\"SCHEMA_VERSION\":1}", `line 2: unknown key "SCHEMA_VERSION", did you mean "schema_version"?`},
		{"{\"rules\":[\n{\"allow\":\"a\"},\n{\"allow\":\n5}]}", `line 3: /rules/1/allow: got the number 5, want a string`},
		{"{\"rules\":[\n{},\n5]}", `line 3: /rules/1: got the number 5, want an object`},
		{`{"mode":"a","mode":"b"}`, "/mode: duplicate key"},
		{`{"mode":"a"} {}`, "more than one JSON value"},
		{`{"schema_version":9007199254740992}`, "/schema_version: the number 9007199254740992 cannot be kept exactly (beyond 2^53)"},
		{`{"raw":{"prototype":1}}`, `/raw/prototype: the key "prototype" is refused`},
	} {
		var into rules
		got := ""
		if err := yamldoc.DecodeJSON([]byte(c.json), &into); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.json, got, c.want)
		}
	}
}

func TestLinesOf(t *testing.T) {
	for _, c := range []struct {
		json string
		want yamldoc.Lines
		ok   bool
	}{
		{"{\"a\":\n1,\n\"b/c\": [true,\n{\"d\": null}]}", yamldoc.Lines{"": 1, "/a": 1, "/b~1c": 3, "/b~1c/0": 3, "/b~1c/1": 4, "/b~1c/1/d": 4}, true},
		{"{\"a\":1,\n\"a\":2}", yamldoc.Lines{"": 1, "/a": 2}, true}, // the second one is the mistake
		{"{\"a\":1,\n\"b\":{\n\"c\":x", yamldoc.Lines{"": 1, "/a": 1, "/b": 2, "/b/c": 3}, false},
		{"", yamldoc.Lines{}, false},
	} {
		got, err := yamldoc.LinesOf([]byte(c.json))
		if !reflect.DeepEqual(got, c.want) || (err == nil) != c.ok {
			t.Errorf("%q: got %v, %v; want %v", c.json, got, err, c.want)
		}
	}
	if _, err := yamldoc.LinesOf([]byte(strings.Repeat("[", 4<<20))); err == nil {
		t.Error("four million levels were followed")
	}
}

// TestCheck: every mistake at once, and with complete also what is left out.
func TestCheck(t *testing.T) {
	tree := map[string]any{"mode": nil, "Rules": 1, "rules": []any{map[string]any{"allow": true, "count": json.Number("1"), "ratio": json.Number("1e999"), "enabled": false}}}
	for complete, want := range map[bool][]string{
		false: {"/Rules: unknown key \"Rules\", did you mean \"rules\"?", "/rules/0/allow: got true, want a string", "/rules/0/ratio: got the number 1e999, want a number"},
		true: {"/Rules: unknown key \"Rules\", did you mean \"rules\"?", "/mode: got null, want a string", "/rules/0/allow: got true, want a string", "/rules/0/ratio: got the number 1e999, want a number",
			"/labels: is missing", "/named: is missing", "/note: is missing", "/optional: is missing", "/raw: is missing", "/schema_version: is missing"},
	} {
		var got []string
		for _, m := range yamldoc.Check(tree, reflect.TypeFor[rules](), complete) {
			got = append(got, m.Pointer+": "+m.Reason)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("complete %v:\n got %q\nwant %q", complete, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"read_only", "destructive", "mode"}
	for wrong, want := range map[string]string{
		"readOnly": "read_only", "read-only": "read_only", "moed": "mode", "destructiv": "destructive",
		"zebra": "", "": "", strings.Repeat("m", 10_000): "",
	} {
		if got := yamldoc.Nearest(wrong, known); got != want {
			t.Errorf("%.20q: got %q, want %q", wrong, got, want)
		}
	}
}

func FuzzToJSON(f *testing.F) {
	for _, seed := range []string{"a: 1\nb: [x, {y: z}]\n", "a: &x 1\nb: *x\n", "? [a]\n: b\n", "<<: {a: b}\n", "a: |\n  x\n", "%YAML 1.2\n---\na: !t b\n...\n", "{a: 'b', \"c\": ~}", "- 1e5\n- 0x1\n- .inf\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, lines, err := yamldoc.ToJSON(text)
		if err != nil {
			return
		}
		if err := canon.Check(doc, canon.Limits{Depth: 32, Strict: true}); err != nil {
			t.Errorf("%q became %s: %v", text, doc, err)
		}
		if string(doc) != "null" && lines[""] == 0 {
			t.Errorf("%q: no line for the document", text)
		}
	})
}

func FuzzDecodeJSON(f *testing.F) {
	f.Add([]byte(`{"schema_version":1,"rules":[{"allow":"a","count":1}],"named":{"x":{}},"raw":[1]}`))
	f.Add([]byte(`{"optional":null,"labels":{"a":"b"},"note":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var strict, plain rules
		if yamldoc.DecodeJSON(text, &strict) != nil {
			return
		}
		if err := json.Unmarshal(text, &plain); err != nil || !reflect.DeepEqual(strict, plain) {
			t.Errorf("%q: %+v, %+v, %v", text, strict, plain, err)
		}
	})
}
