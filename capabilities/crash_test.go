package capabilities

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/aircoding/air/runtime/event"
)

const crashVariable = "AIR_TEST_CONSENT"

// TestCrashWhileConsenting kills a process that enables, updates and rolls back without
// end, at many moments of each: the old or the new digest is in use, its consent is on
// record, the chain of events is whole, and the next command goes on from there.
func TestCrashWhileConsenting(t *testing.T) {
	if dir := os.Getenv(crashVariable); dir != "" {
		consentForEver(t, dir)
	}
	dir := t.TempDir()
	versions := map[string]string{}
	func() {
		w := worldIn(t, dir)
		for _, version := range []string{"1.0.0", "2.0.0"} {
			b := withVersion(t, version)
			place(t, w.store, b)
			versions[b.Digest] = version
		}
	}()
	for round := range 24 {
		killConsenting(t, dir, time.Duration(round*700)*time.Microsecond)
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			afterCrash(worldIn(t, dir), versions)
		})
	}
}

// afterCrash checks the state that a killed process left.
func afterCrash(w *world, versions map[string]string) {
	w.Helper()
	rows, err := w.lifecycle.rows(w.Context(), `WHERE enabled = 1`)
	if err != nil || len(rows) > 1 {
		w.Fatalf("enabled are %+v, %v", rows, err)
	}
	if report, err := w.events.Verify(w.Context()); err != nil || len(report.Problems) > 0 {
		w.Fatalf("the chain: %+v, %v", report, err)
	}
	if len(rows) == 0 {
		return
	}
	r := rows[0]
	if versions[r.Digest] != r.Version || r.At == "" {
		w.Errorf("enabled is %+v", r)
	}
	if told := w.payload(event.CapabilityEnabled); told["digest"] != r.Digest {
		w.Errorf("the last event of a consent names %v, enabled is %s", told["digest"], r.Digest)
	}
	if tool, err := w.lifecycle.Tool(w.Context(), "acme-csv.summarize"); err != nil || tool.Owner.Digest != r.Digest {
		w.Errorf("the next call: %v", err)
	}
	if now, ok, err := w.lifecycle.enabled(w.Context(), "acme-csv"); err != nil || !ok || now.State != Active || now.Digest != r.Digest {
		w.Errorf("after the next call: %+v, %v", now, err)
	}
}

// killConsenting starts a process that changes what is in use for ever, and kills it some
// time after it began.
func killConsenting(t *testing.T, dir string, after time.Duration) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestCrashWhileConsenting$")
	c.Env = append(os.Environ(), crashVariable+"="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = bufio.NewReader(out).ReadString('\n') // it is about to enable
	time.Sleep(after)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // killed: always an error
	if c.ProcessState.ExitCode() == 1 {
		t.Fatal("it ended by itself")
	}
}

func consentForEver(t *testing.T, dir string) {
	w := worldIn(t, dir)
	one, two := withVersion(t, "1.0.0").Digest, withVersion(t, "2.0.0").Digest
	fmt.Println("ready")
	for {
		for _, step := range []func() (Status, error){
			func() (Status, error) { return w.lifecycle.Rollback(t.Context(), "acme-csv", one, yes) },
			func() (Status, error) { return w.lifecycle.Update(t.Context(), "acme-csv", two, yes) },
			func() (Status, error) {
				return Status{}, w.lifecycle.Disable(t.Context(), "acme-csv", "")
			},
			func() (Status, error) { return w.lifecycle.Enable(t.Context(), "acme-csv", two, yes) },
		} {
			if _, err := step(); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
	}
}
