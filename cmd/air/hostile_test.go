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
// a good one after it.
func TestHostileModulesThroughRun(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.wasm")
	write(t, good, wasmtests.Module(t, "guests/echo"))
	for _, c := range wasmtests.Hostile() {
		t.Run(filepath.Base(c.Name), func(t *testing.T) {
			t.Parallel()
			if c.Name == "hostile/command" {
				t.Skip("air run takes a bare module that exports _start for a program, and runs it as one")
			}
			if c.Phase == wasmtests.Compile && underRace {
				t.Skip("takes all of the compile limit, which is five times as long under the race detector")
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
	switch {
	case c.Phase == wasmtests.Compile:
		return 30 * time.Second
	case underRace:
		return time.Minute
	}
	return 10 * time.Second
}

func checkOutcome(t *testing.T, c wasmtests.Case, got runtime.Envelope) {
	t.Helper()
	switch {
	case c.Kind == "" && got.Error == nil:
	case c.Kind == "" && got.Error.Code == "bad_output": // a bare module's result has to be an object
	case c.Kind != "" && got.Error != nil && got.Error.Kind == c.Kind:
	case c.Kind == fault.Integrity && got.Error != nil: // what is installed elsewhere cannot be this file
	case underRace && fault.Is(got.Error, fault.ResourceExhausted): // the detector's own memory can come first
	default:
		t.Errorf("got %s, %v; want kind %q", got.Output, got.Error, c.Kind)
	}
}

// runGuest returns what air run answers.
func runGuest(t *testing.T, dir string, args ...string) (runtime.Envelope, time.Duration) {
	t.Helper()
	c := exec.Command("/proc/self/exe", append([]string{"run", "-o", "json", "--no-prompt"}, args...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "AIR_TEST_MAIN=1", "AIR_HOME="+filepath.Join(dir, ".home"))
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
