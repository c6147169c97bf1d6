package shell_test

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
)

type object = map[string]any

type output struct {
	CommandRunID       string  `json:"command_run_id"`
	ExitCode           int     `json:"exit_code"`
	DurationMS         int64   `json:"duration_ms"`
	StdoutPreview      *string `json:"stdout_preview"`
	StderrPreview      *string `json:"stderr_preview"`
	StdoutArtifactID   string  `json:"stdout_artifact_id"`
	StderrArtifactID   string  `json:"stderr_artifact_id"`
	CombinedArtifactID string  `json:"combined_artifact_id"`
	Diagnostics        *struct {
		Diagnostics []object `json:"diagnostics"`
		Errors      int      `json:"errors"`
		Tests       object   `json:"tests"`
		Truncated   bool     `json:"truncated"`
	} `json:"parsed_diagnostics_json"`
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// newRig is a project in which everything is allowed, where commands can run.
func newRig(t testing.TB) *rig.Rig {
	t.Helper()
	return rigWith(t, rig.Options{Approver: rig.Yes})
}

func rigWith(t testing.TB, o rig.Options) *rig.Rig {
	t.Helper()
	rig.NeedsSandbox(t)
	return rig.New(t, o)
}

// run calls shell.run in the project's folder.
func run(r *rig.Rig, command string, more object) (output, runtime.Envelope) {
	r.Helper()
	in := object{"command": command, "cwd": "."}
	for k, v := range more {
		in[k] = v
	}
	e := r.Call("shell.run", in)
	var out output
	if len(e.Output) > 0 {
		if err := json.Unmarshal(e.Output, &out); err != nil {
			r.Fatalf("%s: %v", e.Output, err)
		}
	}
	return out, e
}

// must is run for a call that has to succeed.
func must(r *rig.Rig, command string, more object) output {
	r.Helper()
	out, e := run(r, command, more)
	if e.Error != nil {
		r.Fatalf("%s: %v (%s)", command, e.Error, e.Output)
	}
	return out
}

// content is what an artifact holds, "" for none.
func content(r *rig.Rig, id string) string {
	r.Helper()
	if id == "" {
		return ""
	}
	record, err := r.Session.Artifacts.Get(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	f, err := r.Session.Artifacts.Open(record)
	if err != nil {
		r.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

func failed(t testing.TB, e runtime.Envelope, kind fault.Kind, code string) {
	t.Helper()
	if e.Error == nil || e.Error.Kind != kind || e.Error.Code != code {
		t.Errorf("got %+v, want %s/%s", e.Error, kind, code)
	}
}
