//go:build !wasip1

package air

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func folder(t *testing.T, files map[string]string) (*Context, string) {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	host, err := Dir(root, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return &Context{host: host}, root
}

func TestTextInPieces(t *testing.T) {
	var long strings.Builder
	for i := range 5000 {
		long.WriteString(strings.Repeat("x", i%150) + "\n")
	}
	tests := map[string]string{
		"empty.txt":     "",
		"no end.txt":    "a",
		"one.txt":       "a\n",
		"blank.txt":     "\n\n\n",
		"crlf.txt":      "a\r\nb\r\n",
		"unicode.txt":   "é\n世界\n\U0001F600",
		"lines.txt":     strings.Repeat("a\n", 7),
		"long.txt":      long.String(),
		"last long.txt": "a\n" + strings.Repeat("b", 300<<10)[:200<<10],
	}
	c, _ := folder(t, tests)
	for name, want := range tests {
		for _, lines := range []int{0, 1, 2, 3, 7, 8, 700} {
			if name == "long.txt" && 0 < lines && lines < 700 {
				continue // thousands of calls that show nothing new
			}
			text := c.Open(name)
			text.PieceLines = lines
			if got, err := io.ReadAll(text); err != nil || string(got) != want {
				t.Errorf("%s in pieces of %d lines: %d bytes, %v; want %d bytes", name, lines, len(got), err, len(want))
			}
		}
	}
}

func TestLines(t *testing.T) {
	c, _ := folder(t, map[string]string{"f": "a\r\n\nb\nc", "g": "a\n", "h": ""})
	for name, want := range map[string][]string{"f": {"a", "", "b", "c"}, "g": {"a"}, "h": nil} {
		var got []string
		for line, err := range c.Lines(name) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, line)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, err := range c.Lines("missing") {
		if !isKind(err, "not_found") {
			t.Errorf("missing: got %v", err)
		}
	}
}

func TestTextRefuses(t *testing.T) {
	stat := func(json.RawMessage) any {
		return map[string]any{"ok": true, "output": map[string]any{"exists": true, "size_bytes": 9}}
	}
	tests := []struct {
		name, output, code, message string
	}{
		{"binary", `{"content_type":"binary","truncated":false}`, "not_text", "t is no UTF-8 text (fs.read calls it binary)"},
		{"cut in a line", `{"content_type":"text","content":"abc","line_count":1,"truncated":true}`, "line_too_long", "t: line 1 is longer than fs.read returns at once"},
		{"no line fits", `{"content_type":"text","content":"","line_count":0,"truncated":true}`, "line_too_long", "t: line 1 is longer than fs.read returns at once"},
		{"cut in a later line", `{"content_type":"text","content":"a\nb","line_count":2,"truncated":true}`, "line_too_long", "t: line 2 is longer than fs.read returns at once"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			read := func(json.RawMessage) any {
				return map[string]any{"ok": true, "output": json.RawMessage(tt.output)}
			}
			c := &Context{host: fake{"fs.stat": stat, "fs.read": read}}
			_, err := c.ReadFile("t")
			var own *Error
			if !errors.As(err, &own) || own.Code != tt.code || own.Message != tt.message {
				t.Errorf("got %v, want %s: %s", err, tt.code, tt.message)
			}
		})
	}
}

func TestTextNoticesAChange(t *testing.T) {
	c, root := folder(t, map[string]string{"f": "a\nb\nc\n"})
	text := c.Open("f")
	text.PieceLines = 2
	text.Progress = func(read, size int64) {
		if read == 4 && size == 6 { // after the first piece
			if err := os.WriteFile(filepath.Join(root, "f"), []byte("a\nb\nc\nd"), 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	_, err := io.ReadAll(text)
	var own *Error
	if !errors.As(err, &own) || own.Code != "file_changed" {
		t.Errorf("got %v, want file_changed", err)
	}
}

func TestDirStaysInside(t *testing.T) {
	c, root := folder(t, nil)
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{outside, "link", "../" + filepath.Base(filepath.Dir(outside)) + "/secret"} {
		if got, err := c.ReadFile(path); err == nil {
			t.Errorf("%s: read %q", path, got)
		}
	}
}

func TestOtherHelpers(t *testing.T) {
	inputs := map[string]string{}
	answer := func(tool, output string) func(json.RawMessage) any {
		return func(in json.RawMessage) any {
			inputs[tool] = string(in)
			return map[string]any{"ok": true, "output": json.RawMessage(output)}
		}
	}
	c := &Context{host: fake{
		"fs.write":        answer("fs.write", `{"path":"p","bytes_written":2,"sha256":"00"}`),
		"artifact.create": answer("artifact.create", `{"artifact_id":"art_1","uri":"air://s/art_1","path":"p","size_bytes":2}`),
	}}
	if err := c.WriteFile("p", "hi"); err != nil {
		t.Fatal(err)
	}
	ref, err := c.CreateArtifact(Artifact{Type: "report", Name: "r.txt", Content: "hi"})
	if err != nil || ref != (ArtifactRef{ID: "art_1", URI: "air://s/art_1", Path: "p", SizeBytes: 2}) {
		t.Errorf("got %+v, %v", ref, err)
	}
	want := map[string]string{
		"fs.write":        `{"content":"hi","path":"p"}`,
		"artifact.create": `{"type":"report","original_name":"r.txt","content":"hi"}`,
	}
	for tool, in := range want {
		if inputs[tool] != in {
			t.Errorf("%s got %s, want %s", tool, inputs[tool], in)
		}
	}
}

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := runArgs([]string{"greet", `{"name":"Ada"}`}, nil, &out); err != nil || out.String() != "{\"text\":\"Hello, <Ada>!\"}\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
	out.Reset()
	if err := runArgs([]string{"hello.configured"}, strings.NewReader("{}"), &out); err != nil || out.String() != "{\"top\":5,\"sep\":\"\",\"fixed\":\"kept\"}\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
	for _, args := range [][]string{nil, {"greet", "{}", "{}", "{}"}, {"greet", "{"}, {"nobody", "{}"}, {"configured", "{}", "[]"}} {
		if err := runArgs(args, strings.NewReader(""), io.Discard); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	c, _ := folder(t, nil)
	_, err := Run(c.host, "nested", json.RawMessage(`{"Path":"missing"}`), nil)
	if !isKind(err, "not_found") {
		t.Errorf("got %v, want the refusal of fs.read", err)
	}
}

func isKind(err error, kind string) bool {
	var called *ToolError
	return errors.As(err, &called) && called.Kind == kind
}
