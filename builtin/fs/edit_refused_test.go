package fs_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
)

func TestEditRefuses(t *testing.T) {
	r := rig.New(t, rig.Options{})
	path := seen(t, r, "f.txt", "one\ntwo\ntwo\n")
	r.Put("unread.txt", "one\n")
	r.Put("folder/x", "")
	changed := seen(t, r, "changed.txt", "one\n")
	must(t, os.WriteFile(changed, []byte("one!\n"), 0o600))
	for _, c := range []struct {
		input object
		kind  fault.Kind
		code  string
	}{
		{object{"path": "none", "old_string": "a", "new_string": "b"}, fault.NotFound, "no_such_file"},
		{object{"path": "folder", "old_string": "a", "new_string": "b"}, fault.InvalidInput, "is_a_directory"},
		{object{"path": "unread.txt", "old_string": "one", "new_string": "b"}, fault.Conflict, "not_read"},
		{object{"path": "changed.txt", "old_string": "one", "new_string": "b"}, fault.Conflict, "stale"},
		{object{"path": "f.txt", "old_string": "one", "new_string": "b", "expected_existing_sha256": strings.Repeat("0", 64)}, fault.Conflict, "stale"},
		{object{"path": "f.txt", "old_string": "two", "new_string": "b"}, fault.Conflict, "not_unique"},
		{object{"path": "f.txt", "old_string": "three", "new_string": "b", "replace_all": true}, fault.Conflict, "no_match"},
		{object{"path": "f.txt", "old_string": "one", "new_string": "one"}, fault.InvalidInput, "no_change"},
		{object{"path": "f.txt", "old_string": "", "new_string": "one"}, fault.InvalidInput, "schema"},
		{object{"path": ".git/config", "old_string": "a", "new_string": "b"}, fault.PermissionDenied, "protected_path"},
	} {
		e := r.Call("fs.edit", c.input)
		failed(t, e, c.kind, c.code)
		if e.Error.Hint == "" && c.kind == fault.Conflict {
			t.Errorf("%v: no hint", c.input)
		}
	}
	if got := content(t, path); got != "one\ntwo\ntwo\n" {
		t.Errorf("changed: %q", got)
	}
}

func TestEditNotUnique(t *testing.T) {
	r := rig.New(t, rig.Options{})
	seen(t, r, "f.txt", "x\na\n\nb\nx x\nx\nx\nx\naaa\n")
	for _, c := range []struct {
		old   string
		count float64
		lines []any
	}{
		{"x", 6, []any{1, 5, 5, 6, 7}},
		{"\nx\n", 3, []any{5, 6, 7}},
		{"aa", 2, []any{9, 9}}, // overlapping: which of them is meant cannot be known
	} {
		e := r.Call("fs.edit", object{"path": "f.txt", "old_string": c.old, "new_string": "y"})
		failed(t, e, fault.Conflict, "not_unique")
		if fmt.Sprint(e.Error.Details["count"]) != fmt.Sprint(c.count) || fmt.Sprint(e.Error.Details["lines"]) != fmt.Sprint(c.lines) {
			t.Errorf("%q: %v, want %v in %v", c.old, e.Error.Details, c.count, c.lines)
		}
	}
}

func TestEditNearestMiss(t *testing.T) {
	r := rig.New(t, rig.Options{})
	const program = "package main\n\nfunc main() {\n\tprintln(\"Hello\")\n\treturn\n}\n"
	for _, c := range []struct {
		name, content, old string
		line               int // 0: none is named
		differs, diff      string
	}{
		{"CRLF", "a\r\nb\r\nc\r\n", "b\nc", 2, `line ends: the file has \r\n, old_string \n`, "@@ -1,2 +1,2 @@\n-b\n-c\n+b\r\n+c\r\n"},
		{"LF", "a\nb\nc\n", "b\r\nc\r\n", 2, `line ends: the file has \n, old_string \r\n`, "@@ -1,3 +1,3 @@\n-b\r\n-c\r\n+b\n+c\n \n"},
		{"blank at the end", "a\nb \nc\n", "b\nc", 2, "blanks at the end of a line", "@@ -1,2 +1,2 @@\n-b\n+b \n c\n"},
		{"tabs", program, "    println(\"Hello\")", 4, "tabs and spaces", "@@ -1 +1 @@\n-    println(\"Hello\")\n+\tprintln(\"Hello\")\n"},
		{"case", program, "PRINTLN(\"hello\")", 4, "upper and lower case", "@@ -1 +1 @@\n-PRINTLN(\"hello\")\n+\tprintln(\"Hello\")\n"},
		{"a word in several lines", program, "func main() {\n\tprintln(\"Bye\")\n\treturn\n}", 3, "words", "@@ -1,4 +1,4 @@\n func main() {\n-\tprintln(\"Bye\")\n+\tprintln(\"Hello\")\n \treturn\n }\n"},
		{"a word in a line", program, "\tprintln(\"Hallo\")", 4, "words", "@@ -1 +1 @@\n-\tprintln(\"Hallo\")\n+\tprintln(\"Hello\")\n"},
		{"no final newline", "a\nb", "b\n", 2, "the end of the last line: the file has none", "@@ -1,2 +1 @@\n b\n-\n"},
		{"nothing like it", program, "import antigravity", 0, "", ""},
		{"blanks alone", "a\n", "   ", 0, "", ""},
	} {
		path := seen(t, r, "f.txt", c.content)
		e := r.Call("fs.edit", object{"path": "f.txt", "old_string": c.old, "new_string": "x"})
		failed(t, e, fault.Conflict, "no_match")
		var want map[string]any
		if c.line > 0 {
			want = map[string]any{"line": c.line, "differs": c.differs, "diff": c.diff}
		}
		if !reflect.DeepEqual(e.Error.Details, want) {
			t.Errorf("%s: %q\nwant %q", c.name, e.Error.Details, want)
		}
		if e.Error.Hint == "" || content(t, path) != c.content {
			t.Errorf("%s: hint %q, the file holds %q", c.name, e.Error.Hint, content(t, path))
		}
	}
}
