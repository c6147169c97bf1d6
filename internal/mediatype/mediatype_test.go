package mediatype

import (
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct{ name, head, want string }{
		{"x", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png"},
		{"x.txt", "%PDF-1.7\n", "application/pdf"},
		{"x.pdf", "plain words", "text/plain; charset=utf-8"},
		{"a.ipynb", "\n{\"cells\": []}", Notebook},
		{"A.IPYNB", "{}", Notebook},
		{"a.ipynb", "GIF89a", "image/gif"},
		{"a.json", `{"cells": []}`, "application/json"},
		{"x", "\x00\x01\x02\x03", "application/octet-stream"},
	} {
		if got := Detect(c.name, []byte(c.head)); got != c.want {
			t.Errorf("Detect(%q, %q) = %q, want %q", c.name, c.head, got, c.want)
		}
	}
}

func TestIsText(t *testing.T) {
	for text, want := range map[string]bool{
		"":                  true,
		"hello\n":           true,
		"grün":              true,
		"cut \xf0\x9f\x98":  true, // three bytes of a four-byte character
		"cut \xe2\x82":      true,
		"latin \xfc ber":    false,
		"nul \x00":          false,
		"cont \x80":         false,
		"overlong \xc0\x80": false,
		"surr \xed\xa0\x80": false,
	} {
		if got := IsText([]byte(text)); got != want {
			t.Errorf("IsText(%q) = %v", text, got)
		}
	}
}

func TestWholeRunes(t *testing.T) {
	whole := "aé€😀"
	for n := range len(whole) + 1 {
		got := string(WholeRunes([]byte(whole[:n])))
		if !strings.HasPrefix(whole, got) || strings.ToValidUTF8(got, "") != got || n-len(got) > 3 {
			t.Errorf("WholeRunes of %d bytes = %q", n, got)
		}
	}
}
