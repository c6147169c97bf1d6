package fs

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aircoding/air/internal/mediatype"
)

// A notebook of many small parts needs memory in proportion to its bytes.
func TestNotebookOfManyParts(t *testing.T) {
	const size = 4 << 20
	for name, part := range map[string]string{
		"outputs": `{},`, "cells": `{"outputs":[]},`, "pieces": `"",`, "media": `"x":1,`, "traceback": `"a",`,
	} {
		parts := strings.TrimSuffix(strings.Repeat(part, size/len(part)), ",")
		content := map[string]string{
			"outputs":   `{"cells":[{"outputs":[` + parts + `]}]}`,
			"cells":     `{"cells":[` + parts + `]}`,
			"pieces":    `{"cells":[{"source":[` + parts + `]}]}`,
			"media":     `{"cells":[{"outputs":[{"data":{` + parts + `}}]}]}`,
			"traceback": `{"cells":[{"outputs":[{"traceback":[` + parts + `]}]}]}`,
		}[name]
		raw, most := []byte(content), uint64(0)
		runtime.GC()
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		done := make(chan bool)
		go func() {
			_, ok := renderNotebook(raw)
			done <- ok
		}()
		for ended := false; !ended; {
			select {
			case ok := <-done:
				if ended = true; !ok {
					t.Errorf("%s: no notebook", name)
				}
			case <-time.After(5 * time.Millisecond):
				runtime.ReadMemStats(&now)
				most = max(most, max(now.HeapAlloc, before.HeapAlloc)-before.HeapAlloc)
			}
		}
		if t.Logf("%s: %d MiB", name, most>>20); most > 25*size {
			t.Errorf("%s: %d bytes for %d", name, most, len(raw))
		}
	}
}

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

// The nearest place lies in the file. One is found for a line that has only more blanks.
func FuzzNearest(f *testing.F) {
	f.Add([]byte("a\r\nb\n"), "a\nb")
	f.Add([]byte("x\ty\n"), "x    y\n\n")
	f.Add([]byte("ende"), "Ende\n")
	f.Fuzz(func(t *testing.T, content []byte, wanted string) {
		if wanted == "" || bytes.Contains(content, []byte(wanted)) {
			return
		}
		found, ok := nearest(t.Context(), content, wanted)
		if lines := bytes.Count(content, []byte{'\n'}) + 1; ok && (found.line < 1 || found.line > lines || found.differs == "") {
			t.Errorf("line %d of %d, %q", found.line, lines, found.differs)
		}
		line, _, _ := bytes.Cut(content, []byte{'\n'})
		if _, ok := nearest(t.Context(), content, string(line)+" \r"); !ok && withoutBlanks(string(line)) != "" {
			t.Errorf("no place is near to %q in %q", string(line)+" \r", content)
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
