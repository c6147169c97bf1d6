package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/wasmtests"
)

// TestHostileModulesThroughRun gives each hostile module to air run as a person would, and
// a good one after it. The program is the one that is shipped, for the limits are.
func TestHostileModulesThroughRun(t *testing.T) {
	dir := t.TempDir()
	buildAir(t, dir)
	good := filepath.Join(dir, "good.wasm")
	write(t, good, wasmtests.Module(t, "guests/echo"))
	for _, c := range wasmtests.Hostile() {
		t.Run(filepath.Base(c.Name), func(t *testing.T) {
			t.Parallel()
			if c.Name == "hostile/command" {
				t.Skip("air run takes a bare module that exports _start for a program, and runs it as one")
			}
			path := filepath.Join(dir, filepath.Base(c.Name)+".wasm")
			write(t, path, c.Module(t))
			args := []string{path, "go", "{}"}
			if c.Kind == fault.Timeout {
				args = append(args, "--timeout", "1s")
			}
			got, took := runGuest(t, dir, args...)
			checkOutcome(t, c, got)
			if limit := limitOf(c); took > limit {
				t.Errorf("took %v, the limit is %v", took, limit)
			}
			if next, _ := runGuest(t, dir, good, "go", "{}"); next.Error != nil {
				t.Errorf("the next call: %v", next.Error)
			}
		})
	}
}

// limitOf is generous beyond what is promised: the machine runs other tests, too.
func limitOf(c wasmtests.Case) time.Duration {
	if c.Phase == wasmtests.Compile {
		return 30 * time.Second
	}
	return 15 * time.Second
}

func checkOutcome(t *testing.T, c wasmtests.Case, got runtime.Envelope) {
	t.Helper()
	switch {
	case c.Kind == "" && got.Error == nil:
	case c.Kind == "" && got.Error.Code == "bad_output": // a bare module's result has to be an object
	case c.Kind != "" && got.Error != nil && got.Error.Kind == c.Kind:
	case c.Kind == fault.Integrity && got.Error != nil: // what is installed elsewhere cannot be this file
	default:
		t.Errorf("got %s, %v; want kind %q", got.Output, got.Error, c.Kind)
	}
}

func buildAir(t *testing.T, dir string) {
	t.Helper()
	c := exec.Command("go", "build", "-o", filepath.Join(dir, "air"), ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("building air: %v: %s", err, out)
	}
}

// runGuest returns what air run answers.
func runGuest(t *testing.T, dir string, args ...string) (runtime.Envelope, time.Duration) {
	t.Helper()
	c := exec.Command(filepath.Join(dir, "air"), append([]string{"run", "-o", "json", "--no-prompt"}, args...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "AIR_HOME="+filepath.Join(dir, ".home"))
	began := time.Now()
	out, err := c.Output()
	took := time.Since(began)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var envelope runtime.Envelope
	if err := json.Unmarshal(out, &envelope); err != nil {
		t.Fatalf("air answered %q: %v, %v", out, err, exit)
	}
	return envelope, took
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
