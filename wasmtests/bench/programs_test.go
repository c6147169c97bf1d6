package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
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
	source := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return programs{}, err
	}
	const example = "../../examples/csv-insight"
	p := programs{}
	for _, x := range []struct {
		out         *string
		name        string
		environment []string
		dir         string
		args        []string
	}{
		{&p.air, "air", nil, "../../cmd/air", nil},
		{&p.empty, "empty", nil, dir, []string{source}},
		{&p.insight, "insight", nil, example, nil},
		{&p.text, "text", nil, "text", nil},
		{&p.insightModule, "insight.wasm", wasip1, example, reactor},
		{&p.textModule, "text.wasm", wasip1, "text", reactor},
	} {
		*x.out = filepath.Join(dir, x.name)
		if err := goBuild(x.dir, x.environment, append([]string{"-o", *x.out}, x.args...)...); err != nil {
			return p, err
		}
	}
	return p, nil
})

var (
	wasip1  = []string{"GOOS=wasip1", "GOARCH=wasm"}
	reactor = []string{"-buildmode=c-shared"}
)

func built(b *testing.B) programs {
	b.Helper()
	p, err := build()
	fatal(b, err)
	return p
}

func goBuild(dir string, environment []string, args ...string) error {
	c := exec.Command("go", append([]string{"build", "-trimpath", "-buildvcs=false"}, args...)...)
	c.Dir = dir
	c.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off"), environment...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build in %s: %w: %s", dir, err, bytes.TrimSpace(out))
	}
	return nil
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
