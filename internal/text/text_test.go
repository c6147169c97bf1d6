package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aircoding/air/internal/text"
)

// hidden are characters that no text from outside may bring to a terminal as they are.
const hidden = "\x00\x07\x1b\x7f\u0085\u009b\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200d\u200e\u202e\u2028\u2029\u2066\u2800\u3164\ufe0f\ufeff\uffa0\ue000\U000e0041\U000e0100"

func TestVisible(t *testing.T) {
	for _, r := range hidden {
		if text.Visible(r) {
			t.Errorf("%U counts as visible", r)
		}
	}
	for _, r := range "a ~é中日\u0301→😀\ufffd" {
		if !text.Visible(r) {
			t.Errorf("%U counts as invisible", r)
		}
	}
	if text.Visible('\u00a0') || text.Visible('\u3000') {
		t.Error("a blank that is no space counts as visible")
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"two\n\tlines, é 中":       "two\n\tlines, é 中",
		"a\x1b[31mred":            "a\ufffd[31mred",
		"a\u202eb\u200bc\u3164d":  "a\ufffdb\ufffdc\ufffdd",
		"\u26a0\ufe0f careful":    "\u26a0 careful",
		"broken \xff":             "broken \ufffd",
		"a\rb":                    "a\ufffdb",
		"\u00a0padding\u2003wide": "\ufffdpadding\ufffdwide",
	} {
		if got := text.Printable(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "",
		"rm -rf build":         "rm -rf build",
		" a  b":                `\u{20}a \u{20}b`,
		"a\nb\tc":              `a\u{a}b\u{9}c`,
		"safe\u202etxt.exe":    `safe\u{202e}txt.exe`,
		"x\u3164y\ufe0fz":      `x\u{3164}y\u{fe0f}z`,
		"\xffé\ufffd":          `\x{ff}é` + "\ufffd",
		"tag\U000e0041\u00a0!": `tag\u{e0041}\u{a0}!`,
		"Grüße, 世界":            "Grüße, 世界",
		"\xc3\x28":             `\x{c3}(`,
		"\x00\x7f\u0085":       `\u{0}\u{7f}\u{85}`,
		// many of the same
		"rm x" + strings.Repeat(" ", 500) + "; y": `rm x \u{20}{499}; y`,
		strings.Repeat("\u200b", 9) + "x":         `\u{200b}{9}x`,
		// marks
		"u\u0308ber":                       "u\u0308ber", // an umlaut in its decomposed form
		"क्ष":                              "क्ष",        // a conjunct
		"r\u0336m":                         `r\u{336}m`,  // struck through
		"/\u0301":                          `/\u{301}`,   // on what is no letter
		"\u0301x":                          `\u{301}x`,   // on what stands before the text
		"x" + strings.Repeat("\u0301", 50): "x\u0301\u0301\u0301" + `\u{301}{47}`,
		"5\u20e3":                          `5\u{20e3}`, // enclosed
		"\u115f\u0301":                     `\u{115f}\u{301}`,
	} {
		if got := text.Escape(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"", 5, ""},
		{"  one \n\t two ", 20, "one two"},
		{"a\u202eb\u200b\u3164c\xff\ufffd", 20, "abc"},
		{"12345", 5, "12345"},
		{"12345  \n", 5, "12345"},
		{"123456", 5, "12345…"},
		{"1234 56", 5, "1234…"},
		{"é中😀x", 3, "é中😀…"},
		{"x", 0, "…"},
		{hidden, 100, ""},
	} {
		if got := text.Line(c.in, c.limit); got != c.want {
			t.Errorf("%q to %d: got %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestHeadAndCut(t *testing.T) {
	for _, c := range []struct {
		in        string
		n         int
		head, cut string
	}{
		{"", 0, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "abc", "abc…"},
		{"aé", 2, "a", "a…"},
		{"日本", 3, "日", "日…"},
		{"日本", 2, "", "…"},
		{"\x80\x80\x80\x80\x80", 4, "\x80\x80\x80\x80", "\x80\x80\x80\x80…"},
		{"abc", -1, "", "…"},
		{"", -1, "", "…"},
	} {
		if got := text.Head(c.in, c.n); got != c.head {
			t.Errorf("head of %q to %d: got %q, want %q", c.in, c.n, got, c.head)
		}
		if got := text.Cut(c.in, c.n); got != c.cut {
			t.Errorf("%q cut to %d: got %q, want %q", c.in, c.n, got, c.cut)
		}
	}
}

// FuzzShown: whatever comes in, nothing hidden comes out.
func FuzzShown(f *testing.F) {
	f.Add(hidden, 3)
	f.Add("a\xffb  c", 2)
	f.Fuzz(func(t *testing.T, s string, n int) {
		for _, shown := range []string{text.Printable(s), text.Escape(s), text.Line(s, n)} {
			for _, r := range shown {
				if !text.Visible(r) && !strings.ContainsRune("\n\t", r) {
					t.Fatalf("%U of %q is shown", r, s)
				}
			}
			if !utf8.ValidString(shown) {
				t.Fatalf("%q is no UTF-8", shown)
			}
		}
		if shown := text.Escape(s); text.Escape(shown) != shown || strings.Contains(shown, "  ") || strings.ContainsAny(shown, "\n\t") {
			t.Fatalf("%q is shown as %q, and that as %q", s, shown, text.Escape(shown))
		}
		if line := text.Line(s, n); utf8.RuneCountInString(line) > max(n, 0)+1 || strings.ContainsAny(line, "\n\t") {
			t.Fatalf("%q is no line of %d characters", line, n)
		}
		if head := text.Head(s, n); len(head) > max(n, 0) || !strings.HasPrefix(s, head) {
			t.Fatalf("%q is no head of %d bytes", head, n)
		}
	})
}
