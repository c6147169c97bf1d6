//go:build linux

package runner

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// newBare is a rig on a machine without a sandbox.
func newBare(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, nil)
	r.config.Bare, r.confined = true, new(bool)
	return r
}

func TestBare(t *testing.T) {
	r := newBare(t)
	r.put("notes.txt", "notes\n")
	l := r.line("cat ~/notes.txt; pwd; echo $TERM; exit 3")
	ended, out := r.run(l)
	if out != "notes\n"+r.root+"\ndumb" || ended.Code != 3 || ended.Tier != "none" || ended.Held["sandbox"] == "" {
		t.Errorf("got %+v, %q", ended, out)
	}
	l = r.line("")
	l.Argv = []string{"sh", "-c", "kill -9 $$"}
	if ended, _ := r.run(l); ended.Code != 137 || ended.Signal != 9 || ended.Killed {
		t.Errorf("got %+v", ended)
	}
	l.Argv = []string{"no-such-program"}
	var f *fault.Error
	if _, err := r.Launch(t.Context(), l); !errors.As(err, &f) || f.Kind != fault.DependencyMissing {
		t.Errorf("got %v", err)
	}
}

// Nobody runs a command without a sandbox who has not said that it may be so.
func TestBareIsRefused(t *testing.T) {
	r := newBare(t)
	r.config.Bare = false
	var f *fault.Error
	if _, err := r.Launch(t.Context(), r.line("true")); !errors.As(err, &f) || f.Kind != fault.Unavailable || f.Code != "no_sandbox" {
		t.Errorf("got %v", err)
	}
}

// What was decided as confined does not run bare when there is no sandbox after all.
func TestBareAfterAll(t *testing.T) {
	r := newBare(t)
	yes := true
	r.confined = &yes
	r.unconfined()
	var f *fault.Error
	if _, err := r.Launch(t.Context(), r.line("true")); !errors.As(err, &f) || f.Code != "no_sandbox" {
		t.Errorf("got %v", err)
	}
}

func TestBareDecides(t *testing.T) {
	r := newBare(t)
	l := r.line("cat a; touch b")
	l.Decide = func(_ context.Context, effects []permission.Effect) error {
		for _, e := range effects {
			if e.Kind == permission.Run && strings.HasPrefix(e.Target, "touch") {
				return errors.New("no")
			}
		}
		return nil
	}
	var out bytes.Buffer
	l.Stderr = &out
	ended, err := r.Launch(t.Context(), l)
	if err == nil || ended.Code != 126 {
		t.Errorf("got %+v, %v, %s", ended, err, out.String())
	}
	if _, err := os.Stat(filepath.Join(r.root, "b")); err == nil {
		t.Error("what was refused was done")
	}
}

// Cases P1 and P2, without a sandbox: what leaves its session and its parent ends too.
func TestBareEnds(t *testing.T) {
	r := newBare(t)
	escape := "setsid sh -c 'setsid sleep 300 & echo $!; exec sleep 300' & sleep 0.3; "
	for _, c := range []struct {
		script string
		limit  time.Duration
		killed bool
	}{
		{escape + "exit 0", time.Minute, false},
		{escape + "sleep 300", 2 * time.Second, true},
	} {
		ctx, stop := context.WithTimeout(t.Context(), c.limit)
		var out bytes.Buffer
		l := r.line(c.script)
		l.Bash, l.Stdout = true, &out
		start := time.Now()
		ended, err := r.Launch(ctx, l)
		stop()
		if ended.Killed != c.killed || c.killed != errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 8*time.Second {
			t.Errorf("%s: %+v, %v after %v", c.script, ended, err, time.Since(start))
		}
		pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
		must(t, err)
		if p, err := readProcess(pid); err == nil && p.name == "sleep" && !p.zombie {
			t.Errorf("%s: process %d has survived: %+v", c.script, pid, p)
		}
	}
}

func TestConfinedIsRemembered(t *testing.T) {
	needsSandbox(t)
	r := newRig(t, nil)
	if !r.Confined() {
		t.Fatal("this machine has a sandbox, and it is not found")
	}
	file, err := r.memory()
	must(t, err)
	if text, err := os.ReadFile(file); err != nil || string(text) != machine() {
		t.Errorf("remembered %q, %v", text, err)
	}
	if other := r.another("s1"); !other.remembered() {
		t.Error("another air does not know")
	}
	must(t, os.WriteFile(file, []byte("another boot"), 0o600))
	if r.another("s1").remembered() {
		t.Error("what was true before the machine booted is believed")
	}
	r.unconfined()
	if _, err := os.Stat(file); err == nil || r.Confined() {
		t.Error("what turned out wrong is remembered")
	}
}
