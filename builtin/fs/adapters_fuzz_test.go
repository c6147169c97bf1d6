package fs

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aircoding/air/internal/mediatype"
)

// What is made of images and notebooks is text, whatever they hold.
func FuzzAdapters(f *testing.F) {
	f.Add([]byte(`{"cells":[{"cell_type":"code","source":["x"],"outputs":[{"data":{"text/plain":[]}}]}]}`))
	f.Add([]byte("RIFF\x40\x00\x00\x00WEBPVP8X\x10\x00\x00\x00aaaaaaaaaaaaaaa"))
	f.Add([]byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x0c\x00\x00\x00aaaaaaaaaaaaaaa"))
	f.Add([]byte("GIF89a\x01\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		described, err := describeImage(mediatype.Detect("f", raw), bytes.NewReader(raw))
		if err != nil || !strings.HasPrefix(described, `{"format":"`) {
			t.Errorf("%q %v", described, err)
		}
		if rendered, _ := renderNotebook(raw); !utf8.ValidString(rendered) {
			t.Errorf("%q", rendered)
		}
	})
}

// The nearest place lies in the file, and is named for every text that is not in it.
func FuzzNearest(f *testing.F) {
	f.Add([]byte("a\r\nb\n"), "a\nb")
	f.Add([]byte("x\ty\n"), "x    y\n\n")
	f.Add([]byte("ende"), "Ende\n")
	f.Fuzz(func(t *testing.T, content []byte, wanted string) {
		if wanted == "" || bytes.Contains(content, []byte(wanted)) {
			return
		}
		found, ok := nearest(content, wanted)
		if lines := bytes.Count(content, []byte{'\n'}) + 1; ok && (found.line < 1 || found.line > lines || found.differs == "") {
			t.Errorf("line %d of %d, %q", found.line, lines, found.differs)
		}
	})
}

// Lines are cut as a reader line by line would.
func FuzzCutLines(f *testing.F) {
	f.Add([]byte("a\nb\n\nc"), 1, 2)
	f.Fuzz(func(t *testing.T, content []byte, skip, limit int) {
		skip, limit = min(max(skip, 0), 100), min(max(limit, 1), 100)
		got, err := cutLines(t.Context(), bytes.NewReader(content), skip, limit)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(content, []byte{'\n'})
		if len(lines[len(lines)-1]) == 0 {
			lines = lines[:len(lines)-1]
		}
		lines = lines[min(skip, len(lines)):]
		want := lines[:min(limit, len(lines))]
		if !bytes.Equal(got.text, bytes.Join(want, nil)) || got.count != len(want) || got.more != (len(lines) > limit) {
			t.Errorf("%q: %q, %d lines, more %v", content, got.text, got.count, got.more)
		}
	})
}
