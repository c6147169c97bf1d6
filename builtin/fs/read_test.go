package fs_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
)

type readOutput struct {
	Path        string
	Content     *string
	ContentType string `json:"content_type"`
	LineCount   *int   `json:"line_count"`
	Truncated   bool
	ArtifactID  string `json:"artifact_id"`
}

const inline = 256 << 10

func TestRead(t *testing.T) {
	r := rig.New(t, rig.Options{})
	numbered := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintf(&b, "line %d\n", i)
		}
		return b.String()
	}
	r.Put("numbers", numbered(1, 2500))
	r.Put("two", "one\r\ntwo")
	r.Put("empty", "")
	r.Put("blank", "\n\n\n")
	r.Put("long", strings.Repeat("ä", inline)+"\nnext\n")
	r.Put("wide", strings.Repeat(strings.Repeat("x", 99)+"\n", 4000))
	r.Put("latin", "gr\xfcn\n")
	r.Put("late", strings.Repeat("text\n", 2000)+"\xff\n")
	r.Put("picture.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	r.Put("picture.svg", `<svg xmlns="http://www.w3.org/2000/svg"></svg>`)
	r.Put("paper.pdf", "%PDF-1.7\n")
	r.Put("book.ipynb", "{\"cells\": []}\n")
	r.Put("odd.ipynb", "{\"cells\": 7}\n")
	r.Put("nul", "a\x00b")
	for _, c := range []struct {
		name      string
		input     object
		content   string // "-" for none
		kind      string
		lines     int
		truncated bool
	}{
		{"all", object{"path": "two"}, "one\r\ntwo", "text", 2, false},
		{"default limit", object{"path": "numbers"}, numbered(1, 2000), "text", 2000, true},
		{"skip", object{"path": "numbers", "offset_lines": 2000}, numbered(2001, 2500), "text", 500, false},
		{"skip and limit", object{"path": "numbers", "offset_lines": 1, "limit_lines": 2}, "line 2\nline 3\n", "text", 2, true},
		{"exactly to the end", object{"path": "numbers", "offset_lines": 2498, "limit_lines": 2}, numbered(2499, 2500), "text", 2, false},
		{"beyond the end", object{"path": "numbers", "offset_lines": 9999}, "", "text", 0, false},
		{"at the end", object{"path": "numbers", "offset_lines": 2500}, "", "text", 0, false},
		{"last line without end", object{"path": "two", "offset_lines": 1}, "two", "text", 1, false},
		{"empty", object{"path": "empty"}, "", "empty", 0, false},
		{"blank lines", object{"path": "blank", "limit_lines": 2}, "\n\n", "text", 2, true},
		{"cut at a line", object{"path": "wide", "limit_lines": 4000}, strings.Repeat(strings.Repeat("x", 99)+"\n", inline/100), "text", inline / 100, true},
		{"cut in a line", object{"path": "long"}, strings.Repeat("ä", inline/2), "text", 1, true},
		{"behind a long line", object{"path": "long", "offset_lines": 1}, "next\n", "text", 1, false},
		{"binary", object{"path": "nul"}, "-", "binary", -1, false},
		{"not UTF-8", object{"path": "latin"}, "-", "binary", -1, false},
		{"not UTF-8 later", object{"path": "late", "limit_lines": 3000}, "-", "binary", -1, false},
		{"image with half a head", object{"path": "picture.png"}, `{"format":"png"}`, "image", -1, false},
		{"SVG is text", object{"path": "picture.svg"}, `<svg xmlns="http://www.w3.org/2000/svg"></svg>`, "text", 1, false},
		{"notebook", object{"path": "book.ipynb"}, "", "notebook", 0, false},
		{"no notebook", object{"path": "odd.ipynb"}, "{\"cells\": 7}\n", "text", 1, false},
		{"pdf as bytes", object{"path": "paper.pdf", "encoding": "base64"}, "JVBERi0xLjcK", "pdf", -1, false},
		{"notebook as text", object{"path": "book.ipynb", "encoding": "utf8"}, "{\"cells\": []}\n", "notebook", 1, false},
		{"base64", object{"path": "nul", "encoding": "base64"}, "YQBi", "binary", -1, false},
		{"base64 of nothing", object{"path": "empty", "encoding": "base64"}, "", "empty", -1, false},
		{"base64, cut", object{"path": "long", "encoding": "base64"}, base64.StdEncoding.EncodeToString([]byte(strings.Repeat("ä", inline/4*3/2))), "text", -1, true},
		{"odd path", object{"path": "./x/.././/two"}, "one\r\ntwo", "text", 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := r.Call("fs.read", c.input)
			if c.kind == "" {
				failed(t, e, fault.InvalidInput, "bad_path")
				return
			}
			var got readOutput
			r.Must("fs.read", c.input, &got)
			content, lines := "-", -1
			if got.Content != nil {
				content = *got.Content
			}
			if got.LineCount != nil {
				lines = *got.LineCount
			}
			if content != c.content {
				t.Errorf("content %.60q (%d bytes), want %.60q (%d bytes)", content, len(content), c.content, len(c.content))
			}
			if got.ContentType != c.kind || lines != c.lines || got.Truncated != c.truncated {
				t.Errorf("got %s, %d lines, truncated %v", got.ContentType, lines, got.Truncated)
			}
		})
	}
}

// Where no other read gets at the rest, an artifact has the file.
func TestReadKeepsWhole(t *testing.T) {
	r := rig.New(t, rig.Options{})
	long := strings.Repeat("x", 400<<10) + "\nsecond\n"
	r.Put("long", long)
	r.Put("lines", strings.Repeat("y\n", 200<<10))
	for _, c := range []struct {
		input object
		want  string
	}{
		{object{"path": "long"}, long},
		{object{"path": "long", "encoding": "base64"}, long},
		{object{"path": "long", "offset_lines": 1}, ""},
		{object{"path": "lines"}, ""},
	} {
		var got readOutput
		r.Must("fs.read", c.input, &got)
		if c.want == "" {
			if got.ArtifactID != "" {
				t.Errorf("%v has an artifact", c.input)
			}
			continue
		}
		record, err := r.Session.Artifacts.Get(t.Context(), got.ArtifactID)
		must(t, err)
		if stored(t, r, record) != c.want || record.Type != "file" {
			t.Errorf("%v: the artifact %+v holds something else", c.input, record)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	r := rig.New(t, rig.Options{})
	r.Put("a.txt", "text")
	r.Put("latin", "gr\xfcn\n")
	r.Put("paper.pdf", "%PDF-1.7\n")
	for _, c := range []struct {
		input object
		kind  fault.Kind
		code  string
	}{
		{object{"path": "none"}, fault.NotFound, "no_such_file"},
		{object{"path": "a.txt/b"}, fault.NotFound, "not_a_directory"},
		{object{"path": "."}, fault.InvalidInput, "is_a_directory"},
		{object{"path": "a.txt", "encoding": "base64", "offset_lines": 1}, fault.InvalidInput, "line_range"},
		{object{"path": "a.txt", "encoding": "base64", "limit_lines": 1}, fault.InvalidInput, "line_range"},
		{object{"path": "a.txt", "pages": "1"}, fault.InvalidInput, "pages"},
		{object{"path": "paper.pdf", "pages": "0"}, fault.InvalidInput, "pages"},
		{object{"path": "paper.pdf", "pages": "3-1"}, fault.InvalidInput, "pages"},
		{object{"path": "paper.pdf", "pages": "-2"}, fault.InvalidInput, "pages"},
		{object{"path": "paper.pdf", "pages": "1,,2"}, fault.InvalidInput, "pages"},
		{object{"path": "paper.pdf", "pages": "1", "encoding": "base64"}, fault.InvalidInput, "pages"},
		{object{"path": "latin", "encoding": "utf8"}, fault.InvalidInput, "not_utf8"},
		{object{"path": "a.txt", "encoding": "latin1"}, fault.InvalidInput, "schema"},
		{object{"path": "a.txt", "limit_lines": 0}, fault.InvalidInput, "schema"},
		{object{"path": "a.txt", "extra": 1}, fault.InvalidInput, "schema"},
		{object{}, fault.InvalidInput, "schema"},
	} {
		failed(t, r.Call("fs.read", c.input), c.kind, c.code)
	}
}

// F18: a file that is mostly hole costs what is returned of it.
func TestF18SparseFile(t *testing.T) {
	r := rig.New(t, rig.Options{})
	file, err := os.Create(filepath.Join(r.Root, "sparse"))
	must(t, err)
	_, err = file.WriteString(strings.Repeat("text\n", 5000))
	must(t, err)
	must(t, file.Truncate(10<<30))
	must(t, file.Close())
	started := time.Now()
	for _, input := range []object{
		{"path": "sparse"},
		{"path": "sparse", "offset_lines": 4000, "limit_lines": 10},
		{"path": "sparse", "encoding": "base64"},
	} {
		var got readOutput
		r.Must("fs.read", input, &got)
		if !got.Truncated || got.Content == nil || len(*got.Content) > inline {
			t.Errorf("%v: truncated %v", input, got.Truncated)
		}
	}
	if took := time.Since(started); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
}

// What a task read is noted for read-before-edit, with the digest of what was there.
func TestReadIsNoted(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	path := r.Put("a.txt", "abc")
	if _, ok, err := r.Session.LastRead(r.Context(), path); ok || err != nil {
		t.Fatalf("noted before: %v %v", ok, err)
	}
	r.Must("fs.read", object{"path": "a.txt", "limit_lines": 1}, nil)
	noted(t, r, path, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") // sha256 of "abc", FIPS 180-2
	r.Must("fs.write", object{"path": "a.txt", "content": ""}, nil)
	noted(t, r, path, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855") // of nothing
}

func noted(t *testing.T, r *rig.Rig, path, want string) {
	t.Helper()
	if got, ok, err := r.Session.LastRead(r.Context(), path); got != want || !ok || err != nil {
		t.Errorf("noted %q %v %v, want %q", got, ok, err, want)
	}
}
