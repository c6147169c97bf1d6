package diagnostics_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/diagnostics"
)

// TestOutputs reads what tools printed, testdata/README.md says how, and compares it with
// what a person finds in it.
func TestOutputs(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d outputs: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			output := read(t, file)
			want := read(t, strings.TrimSuffix(file, ".txt")+".want")
			for _, size := range []int{len(output), 1, 7} {
				if got := render(parse(output, size)); got != want {
					t.Fatalf("in pieces of %d bytes: got\n%s\nwant\n%s", size, got, want)
				}
			}
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// parse has the output written in pieces.
func parse(output string, size int) diagnostics.Report {
	p := diagnostics.New("/p", "/p")
	w := p.Stream()
	for len(output) > 0 {
		n := min(max(size, 1), len(output))
		fmt.Fprint(w, output[:n])
		output = output[n:]
	}
	return p.Report()
}

// render is a report in the form of the files *.want: a diagnostic a line, then the tests.
func render(r diagnostics.Report) string {
	var b strings.Builder
	for _, d := range r.Diagnostics {
		fmt.Fprintf(&b, "%s | %s | %s:%d:%d | %s | %s\n", d.Tool, d.Severity, d.File, d.Line, d.Column, d.Code, d.Message)
	}
	if r.Tests != nil {
		passed := "?"
		if r.Tests.Passed != nil {
			passed = fmt.Sprint(*r.Tests.Passed)
		}
		fmt.Fprintf(&b, "passed %s, failed %d, skipped %d\n", passed, r.Tests.Failed, r.Tests.Skipped)
		for _, name := range r.Tests.FailedNames {
			fmt.Fprintf(&b, "failed: %s\n", name)
		}
	}
	return b.String()
}
