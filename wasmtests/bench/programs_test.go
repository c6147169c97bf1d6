package bench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aircoding/air/wasmtests"
)

// folder is where the programs lie that all benchmarks share; TestMain removes it.
var folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "air-bench-") })

// programs are the paths of what is built for measuring.
type programs struct {
	air           string
	empty         string // a program that does nothing
	insight, text string // the example and the task of the folder text, as native programs
	insightModule string
	textModule    string
}

var build = sync.OnceValues(func() (programs, error) {
	dir, err := folder()
	if err != nil {
		return programs{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, "empty.go"), []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return programs{}, err
	}
	const example = "../../examples/csv-insight"
	p := programs{}
	for _, x := range []struct {
		out            *string
		name, platform string
		dir            string
		flags          []string
	}{
		{&p.air, "air", "", "../../cmd/air", nil},
		{&p.empty, "empty", "", dir, []string{"empty.go"}},
		{&p.insight, "insight", "", example, nil},
		{&p.text, "text", "", "text", nil},
		{&p.insightModule, "insight.wasm", wasmtests.WASIP1, example, reactor},
		{&p.textModule, "text.wasm", wasmtests.WASIP1, "text", reactor},
	} {
		*x.out = filepath.Join(dir, x.name)
		if err := wasmtests.GoBuild(x.dir, *x.out, x.platform, x.flags...); err != nil {
			return p, err
		}
	}
	return p, nil
})

var reactor = []string{"-buildmode=c-shared"}

func built(b *testing.B) programs {
	b.Helper()
	p, err := build()
	fatal(b, err)
	return p
}

// execute runs a program to its end and returns what it writes. nil is this process's
// environment.
func execute(b testing.TB, dir string, environment []string, input, program string, args ...string) string {
	b.Helper()
	var errors bytes.Buffer
	c := exec.Command(program, args...)
	c.Dir, c.Env, c.Stdin, c.Stderr = dir, environment, strings.NewReader(input), &errors
	out, err := c.Output()
	if err != nil {
		b.Fatalf("%s %s: %v: %s", filepath.Base(program), strings.Join(args, " "), err, errors.String())
	}
	return string(out)
}
