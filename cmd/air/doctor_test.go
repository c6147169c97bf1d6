package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/doctor"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/runtime/sandbox"
)

func TestSandboxReport(t *testing.T) {
	refused := sandbox.Row{Profile: "worker", Attempt: "a", Refused: true, How: "EPERM"}
	possible := sandbox.Row{Profile: "worker", Attempt: "b", How: "it opened"}
	untried := sandbox.Row{Profile: "command", Attempt: "c", How: "not tried: stat /nowhere: no such file or directory"}
	for want, rows := range map[string][]sandbox.Row{
		"2 attempts, all refused":                         {refused, refused},
		"1 attempt, all refused; 1 could not be tried":    {refused, untried},
		"2 attempts, 1 NOT REFUSED":                       {refused, possible},
		"2 attempts, 1 NOT REFUSED; 1 could not be tried": {refused, possible, untried},
		"0 attempts; 2 could not be tried":                {untried, {Profile: "worker", Attempt: "all", How: "stat /nowhere"}},
		"0 attempts; 1 could not be tried":                {untried},
	} {
		if got := summary(sandbox.Report{Rows: rows}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if whatEscaped(sandbox.Report{Rows: rows, Worker: sandbox.Tier{Held: true}, Command: sandbox.Tier{Held: true}}) == nil && want != "2 attempts, all refused" {
			t.Errorf("%s: it ends well", want)
		}
	}
	var out strings.Builder
	writeReport(&out, sandbox.Report{Rows: []sandbox.Row{untried}})
	if strings.Contains(out.String(), "POSSIBLE") || !strings.Contains(out.String(), "not tried  not tried: ") {
		t.Errorf("what was not tried is shown as\n%s", out.String())
	}
}

func TestOwnFolder(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		mode os.FileMode
		want capabilities.DependencyState
	}{{0o700, capabilities.Present}, {0o755, capabilities.Incompatible}, {0o770, capabilities.Incompatible}} {
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		if got := ownFolder(place{home: home.Home{Dir: dir}}); got.State != c.want || !got.Required {
			t.Errorf("%o: got %+v", c.mode, got)
		}
	}
	if got := ownFolder(place{home: home.Home{Dir: dir + "/absent"}}); got.State != capabilities.Present {
		t.Errorf("before anything is kept: %+v", got)
	}
}

func TestOwnName(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own, other := t.TempDir(), t.TempDir()
	if err := os.Symlink(self, filepath.Join(own, "air")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "air"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]capabilities.DependencyState{
		own: capabilities.Present, own + ":" + other: capabilities.Present,
		other: capabilities.Incompatible, other + ":" + own: capabilities.Incompatible,
		"/nonexistent": capabilities.Missing, "": capabilities.Missing,
	} {
		a := &app{getenv: func(string) string { return path }}
		if got := a.ownName(); got.State != want {
			t.Errorf("PATH=%s: got %+v, want %s", path, got, want)
		}
	}
	if got := madeOf(self); got != " (github.com/aircoding/air)" {
		t.Errorf("this program is said to be made of %q", got)
	}
}

// A checkup ends well only where what is required is there and what was run worked.
func TestCheckupVerdict(t *testing.T) {
	one := func(state capabilities.DependencyState, required bool) checkup {
		return checkup{Capabilities: []wants{{ID: "x", Dependencies: []capabilities.Verdict{{DependencyID: "d", State: state, Required: required}}}}}
	}
	failed := one(capabilities.Present, true)
	failed.Installed = []doctor.Outcome{{Step: doctor.Step{Command: []string{"npm"}}, Error: "exit status 1"}}
	for _, c := range []struct {
		of   checkup
		well bool
	}{
		{one(capabilities.Present, true), true}, {one(capabilities.Unknown, true), true}, {one(capabilities.Missing, false), true},
		{one(capabilities.Missing, true), false}, {one(capabilities.Incompatible, true), false},
		{checkup{Capabilities: []wants{{ID: "x", Error: "changed"}}}, false}, {failed, false}, {checkup{}, true},
	} {
		if err := c.of.verdict(); (err == nil) != c.well {
			t.Errorf("%+v: got %v", c.of, err)
		}
	}
}
