package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

// onText calls f when a command writes the text.
func onText(text string, f func()) func(event.Event) {
	var once sync.Once
	return func(e event.Event) {
		if e.Type == event.CommandStdout && strings.Contains(string(e.Payload), text) {
			once.Do(f)
		}
	}
}

// eventOf is the payload of the last event of a type that a call left.
func eventOf(r *rig.Rig, runID, eventType string) object {
	r.Helper()
	var last object
	for _, e := range r.Events(runID) {
		if e.Type == eventType {
			last = nil
			if err := json.Unmarshal(e.Payload, &last); err != nil {
				r.Fatal(err)
			}
		}
	}
	if last == nil {
		r.Fatalf("no %s among %v", eventType, r.Types(runID))
	}
	return last
}

func TestEvents(t *testing.T) {
	r := newRig(t)
	out, e := run(r, "echo x", nil)
	types := slices.DeleteFunc(r.Types(e.RunID), func(s string) bool { return !strings.HasPrefix(s, "command.") })
	if !slices.Equal(types, []string{"command.started", "command.completed"}) {
		t.Fatalf("%v", types)
	}
	if started := eventOf(r, e.RunID, "command.started"); started["command"] != "echo x" || started["dir"] != r.Root || started["command_run_id"] != out.CommandRunID {
		t.Errorf("%v", started)
	}
	done := eventOf(r, e.RunID, "command.completed")
	held, _ := done["held"].(object)
	if done["exit_code"] != 0.0 || done["tier"] != "sandbox" || held["memory"] == nil || held["processes"] == nil {
		t.Errorf("%v", done)
	}
}

// watched are the events of a type that are shown while f runs.
func watched(r *rig.Rig, eventType string, f func()) (payloads []object) {
	stop := r.Session.Events.Subscribe(func(e event.Event) {
		var p object
		if e.Type == eventType && json.Unmarshal(e.Payload, &p) == nil {
			payloads = append(payloads, p)
		}
	})
	f()
	stop()
	return payloads
}

func TestOutputIsShownByLines(t *testing.T) {
	r := newRig(t)
	r.Put("slow.sh", "for i in 1 2 3; do printf a; sleep 0.02; printf 'b\\n'; sleep 0.15; done; printf end\n")
	shown := watched(r, event.CommandStdout, func() { must(r, "sh slow.sh", nil) })
	all := ""
	for _, p := range shown {
		line := p["text"].(string)
		if all += line; line != "end" && !strings.HasSuffix(line, "\n") {
			t.Errorf("half a line: %q", line)
		}
	}
	if all != "ab\nab\nab\nend" || len(shown) < 3 {
		t.Errorf("%q in %d events", all, len(shown))
	}
}

func TestOutputIsShownWithinBounds(t *testing.T) {
	r := newRig(t)
	var progress []object
	shown := watched(r, event.CommandStdout, func() {
		progress = watched(r, event.ToolProgress, func() { run(r, "yes", object{"timeout_ms": 2500}) })
	})
	bytes, skipped, written := 0, 0.0, 0.0
	for _, p := range shown {
		bytes += len(p["text"].(string))
		if n, ok := p["skipped_bytes"].(float64); ok {
			skipped += n
		}
		written += p["bytes"].(float64)
	}
	if len(shown) > 40 || bytes > 40*16<<10 || skipped == 0 || written != float64(bytes)+skipped {
		t.Errorf("%d events, %d bytes of %v, %v skipped", len(shown), bytes, written, skipped)
	}
	if len(progress) < 1 || len(progress) > 4 || progress[0]["elapsed_ms"].(float64) < 900 {
		t.Errorf("progress %v", progress)
	}
}

func TestDiagnostics(t *testing.T) {
	r := newRig(t)
	r.Put("sub/log", "a.c:3:5: error: expected ';'\nb.c:1:1: warning: unused [-Wunused]\nall.c: fine\n")
	out, e := run(r, "cat log; exit 1", object{"cwd": "sub", "purpose": "build"})
	if e.Error != nil || out.ExitCode != 1 || out.Diagnostics == nil || len(out.Diagnostics.Diagnostics) != 2 || out.Diagnostics.Errors != 1 {
		t.Fatalf("%s %v", e.Output, e.Error)
	}
	first := out.Diagnostics.Diagnostics[0]
	if first["file"] != "sub/a.c" || first["line"] != 3.0 || first["column"] != 5.0 || first["severity"] != "error" || first["tool"] != "cc" || first["message"] != "expected ';'" {
		t.Errorf("%v", first)
	}
	created := eventOf(r, e.RunID, "diagnostic.created")
	if list := created["diagnostics"].([]any); len(list) != 1 || created["total"] != 1.0 || created["command_run_id"] != out.CommandRunID {
		t.Errorf("%v", created)
	}
	out, e = run(r, "echo fine", object{"purpose": "test"})
	if out.Diagnostics == nil || len(out.Diagnostics.Diagnostics) != 0 || slices.Contains(r.Types(e.RunID), "diagnostic.created") {
		t.Errorf("%s", e.Output)
	}
}

func TestRefusedMidway(t *testing.T) {
	refuseTouch := rig.Person(func(_ context.Context, q permission.Question) (permission.Answer, error) {
		for _, d := range q.Asks {
			if strings.Contains(d.Effect.Target, "secret-word") {
				return permission.Answer{Choice: permission.Refuse}, nil
			}
		}
		return permission.Answer{Choice: permission.Once}, nil
	})
	r := rigWith(t, rig.Options{Approver: refuseTouch})
	defer linkMidway(r)()
	out, e := run(r, "echo before; sleep 1; cat file; echo after", nil)
	if e.Error == nil || e.Error.Kind != fault.PermissionDenied {
		t.Fatalf("%+v %s", e.Error, e.Output)
	}
	if text(out.StdoutPreview) != "before\n" {
		t.Errorf("%s", e.Output)
	}
	if failure := eventOf(r, e.RunID, "command.failed")["error"].(object); failure["kind"] != "permission_denied" {
		t.Errorf("%v", failure)
	}
}

// linkMidway makes "file", of the project, a link to "secret-word" outside once a command says
// "before".
func linkMidway(r *rig.Rig) (stop func()) {
	secret := r.Put(r.Outside+"/secret-word", "x")
	file := r.Put("file", "x")
	return r.Session.Events.Subscribe(onText("before", func() {
		if err := errors.Join(os.Remove(file), os.Symlink(secret, file)); err != nil {
			r.Error(err)
		}
	}))
}

func TestTimeStandsWhileAPersonIsAsked(t *testing.T) {
	asked := false
	slow := rig.Person(func(_ context.Context, q permission.Question) (permission.Answer, error) {
		if strings.Contains(q.Asks[0].Effect.Target, "secret-word") {
			asked = true
			time.Sleep(4 * time.Second)
		}
		return permission.Answer{Choice: permission.Once}, nil
	})
	r := rigWith(t, rig.Options{Approver: slow})
	defer linkMidway(r)()
	out, e := run(r, "echo before; sleep 0.5; cat file; echo after", object{"timeout_ms": 4000})
	if e.Error != nil || !asked || !strings.HasSuffix(text(out.StdoutPreview), "after\n") {
		t.Errorf("asked %v, %v, %s", asked, e.Error, e.Output)
	}
}

// guestTool is a capability's tool that calls shell.run.
func guestTool(may bool) *runtime.Tool {
	permissions := permission.Permissions{Read: true, Write: true, Execute: may}
	scopes := permission.Scopes{Tools: []string{"shell.run"}}
	if may {
		scopes.Commands = []string{"echo *"}
	}
	return &runtime.Tool{
		Name: "acme.run", Version: 1, Capability: "acme", Permissions: permissions,
		InputSchema: json.RawMessage(`{"type": "object"}`), OutputSchema: json.RawMessage(`{"type": "object"}`),
		Owner: permission.Caller{Capability: "acme", Digest: "sha256:acme", Permissions: permissions, Consented: true, Scopes: scopes},
		Implementation: rig.Guest(func(ctx context.Context, access *runtime.Access, input json.RawMessage) (any, error) {
			return object{"envelope": access.Call(ctx, "shell.run", input)}, nil
		}),
	}
}

type onlyTool struct{ tool *runtime.Tool }

func (p onlyTool) Tool(_ context.Context, name string) (*runtime.Tool, error) {
	if name == p.tool.Name {
		return p.tool, nil
	}
	return nil, runtime.UnknownTool(name)
}

func (p onlyTool) Tools(context.Context) ([]*runtime.Tool, error) {
	return []*runtime.Tool{p.tool}, nil
}

func TestGuests(t *testing.T) {
	for _, may := range []bool{true, false} {
		r := rigWith(t, rig.Options{Provider: onlyTool{guestTool(may)}})
		var result struct{ Envelope runtime.Envelope }
		r.Must("acme.run", object{"command": "echo hello", "cwd": ".", "capture_mode": "both"}, &result)
		e := result.Envelope
		if !may {
			if e.Error == nil || e.Error.Kind != fault.PermissionDenied || len(e.Artifacts) > 0 {
				t.Errorf("without the permission: %+v %s", e.Error, e.Output)
			}
			continue
		}
		if e.Error != nil || !strings.Contains(string(e.Output), `"stdout_preview":"hello\n"`) || len(e.Artifacts) != 2 {
			t.Fatalf("with the permission: %+v %s %v", e.Error, e.Output, e.Artifacts)
		}
		for _, id := range e.Artifacts {
			if record, err := r.Session.Artifacts.Get(r.Context(), id); err != nil || record.Capability != "acme" {
				t.Errorf("%+v, %v", record, err)
			}
		}
	}
}
