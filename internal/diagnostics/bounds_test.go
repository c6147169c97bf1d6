package diagnostics_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aircoding/air/internal/diagnostics"
)

func TestNothingFound(t *testing.T) {
	for _, output := range []string{
		"", "\n\n", "all is well\n", "12:30:05: started\n", "error: pathspec 'x' did not match\n",
		"--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n", "ok then\nnot ok at all\n", "CMake is a tool\n",
	} {
		r := parse(output, 1000)
		if len(r.Diagnostics) != 0 || r.Tests != nil || r.Truncated || r.Errors != 0 {
			t.Errorf("%q: %+v", output, r)
		}
		if r.Diagnostics == nil {
			t.Errorf("%q: the list is null in JSON", output)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct{ root, dir, file, want string }{
		{"/p", "/p", "a.c", "a.c"},
		{"/p", "/p/sub", "a.c", "sub/a.c"},
		{"/p", "/p/sub", "../a.c", "a.c"},
		{"/p", "/p", "../x/a.c", "/x/a.c"},
		{"/p", "/p", "/p/s/./a.c", "s/a.c"},
		{"/p", "/p", "/usr/include/a.h", "/usr/include/a.h"},
		{"/p", "/p", "/pp/a.c", "/pp/a.c"},
		{"", "/w", "a.c", "/w/a.c"},
		{"/", "/w", "a.c", "w/a.c"},
		{"/p", "/p", "<stdin>", "<stdin>"},
	} {
		p := diagnostics.New(c.root, c.dir)
		fmt.Fprintf(p.Stream(), "%s:1:2: error: x\n", c.file)
		if r := p.Report(); len(r.Diagnostics) != 1 || r.Diagnostics[0].File != c.want {
			t.Errorf("%+v: %+v", c, r.Diagnostics)
		}
	}
}

func TestStreamsAreApart(t *testing.T) {
	p := diagnostics.New("/p", "/p")
	stdout, stderr := p.Stream(), p.Stream()
	fmt.Fprint(stdout, "a.c:1:1: err")
	fmt.Fprint(stderr, "b.c:2:2: warning: w [-Wx]\n")
	fmt.Fprint(stdout, "or: e\n")
	want := "cc | warning | b.c:2:2 | -Wx | w\ncc | error | a.c:1:1 |  | e\n"
	if got := render(p.Report()); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestOneRunnerCounts(t *testing.T) {
	output := "[  FAILED  ] S.Bad (0 ms)\n1/1 Test #1: unit .....***Failed    0.00 sec\n"
	if r := parse(output, 100); r.Tests.Failed != 1 || *r.Tests.Passed != 0 {
		t.Errorf("%+v", r.Tests)
	}
}

func TestSameIsOnce(t *testing.T) {
	r := parse(strings.Repeat("h.h:1:1: warning: w\n", 50), 1000)
	if len(r.Diagnostics) != 1 || r.Truncated {
		t.Errorf("%+v", r)
	}
}

func TestBounds(t *testing.T) {
	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, "a.c:%d:1: error: e\n", i+1)
	}
	if r := parse(b.String(), 4096); len(r.Diagnostics) != 1000 || !r.Truncated || r.Errors != 1500 {
		t.Errorf("%d diagnostics, %d errors, truncated %v", len(r.Diagnostics), r.Errors, r.Truncated)
	}
	b.Reset()
	for i := range 1000 {
		fmt.Fprintf(&b, "a.c:%d:1: error: %s\n", i+1, strings.Repeat("é", 5000))
	}
	r := parse(b.String(), 4096)
	total := 0
	for _, d := range r.Diagnostics {
		total += len(d.Message)
		if len(d.Message) > 1024 || !utf8.ValidString(d.Message) {
			t.Fatalf("a message of %d bytes", len(d.Message))
		}
	}
	if total > 256<<10 || !r.Truncated || len(r.Diagnostics) < 200 {
		t.Errorf("%d diagnostics of %d bytes", len(r.Diagnostics), total)
	}
}

func TestHugeOutputNeedsLittle(t *testing.T) {
	p := diagnostics.New("/p", "/p")
	w := p.Stream()
	endless := []byte(strings.Repeat("x", 1<<20)) // one line without an end
	lines := []byte(strings.Repeat("compiling something with a path/of/file.c and more words\n", 1<<14))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	started := time.Now()
	for range 64 {
		_, _ = w.Write(endless)
	}
	for range 64 {
		_, _ = w.Write(lines)
	}
	took := time.Since(started)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("%d bytes are kept", grown)
	}
	if r := p.Report(); len(r.Diagnostics) > 0 { // and keeps the parser
		t.Errorf("%+v", r)
	}
	t.Logf("%d MiB in %v", (64*(len(endless)+len(lines)))>>20, took)
}

// FuzzParse: no output stops the parser, and what it says stays within its bounds.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a.c:1:2: error: x\n", "--- FAIL: T (0.0s)\n    a_test.go:1: x\n", "error[E1]: m\n --> a.rs:1:1\n",
		"a.ts(1,2): error TS1: m\n", "/p/a.js\n  1:2  error  m  r\n", "Traceback\n  File \"a.py\", line 1\nX: y\n",
		"CMake Error at C.txt:1 (x):\n  m\n\n", "make[1]: *** [M:3: x] Error 1\n", "make[1]: Entering directory '/p/x'\n",
		"[  FAILED  ] A.B (0 ms)\n", "1/2 Test #1: a ...***Failed 1 sec\n", "  ● a › b\n\n  m\n  at x (a.js:1:2)\n",
		"not ok 1 - a\n  ---\n  error: |-\n    x\n  ...\n", "test at a:1:1\n✖ a (1ms)\nx\n", "\x1b[31mred\x1b[0m\x1b", "E   a\na.py:1: b\n",
		"1 failed, 2 passed in 0.1s\n", "Ran 3 tests in 1s\nFAILED (failures=9)\n", `{"Action":"fail","Package":"p","Test":"T"}` + "\n",
		"\"posn\": \"a.go:1:2\",\n\"message\": \"m\"\n", "thread 'x' panicked at a.rs:1:1:\nm\n", "ld: a.o: undefined reference to `x'\n",
	} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, output string, size int) {
		whole, pieces := parse(output, 1<<20), parse(output, size)
		if got, want := render(pieces), render(whole); got != want {
			t.Fatalf("in pieces: %s\nat once: %s", got, want)
		}
		if whole.Tests != nil && (whole.Tests.Failed < 0 || whole.Tests.Skipped < 0 || whole.Tests.Passed != nil && *whole.Tests.Passed < 0) {
			t.Fatalf("%+v", whole.Tests)
		}
		for _, d := range whole.Diagnostics {
			if d.Message == "" || d.Tool == "" || d.Line < 0 || d.Column < 0 || len(d.File) > 512 {
				t.Fatalf("%+v", d)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	line := []byte("src/main.c: compiling something with a path/of/file.c:12 and more words than one\n")
	p := diagnostics.New("/p", "/p")
	w := p.Stream()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		_, _ = w.Write(line)
	}
}
