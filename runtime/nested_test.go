package runtime_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
)

func TestNestedCall(t *testing.T) {
	var nested runtime.Envelope
	r := with(t, func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		nested = rig.Call(ctx, access, "fs.read", object{"path": "a.txt"})
		return object{}, nil
	})
	path := r.Put("a.txt", "abc")
	e := r.Must("a.run", object{}, nil)
	if !nested.OK {
		t.Fatalf("%+v", nested.Error)
	}
	started := r.Events(nested.RunID)[0]
	var payload struct {
		Parent string `json:"parent_run_id"`
	}
	if err := json.Unmarshal(started.Payload, &payload); err != nil || payload.Parent != e.RunID || !slices.Equal(started.Route, []string{"a"}) {
		t.Errorf("parent %q, route %v, %v", payload.Parent, started.Route, err)
	}
	if _, ok, _ := r.Session.LastRead(r.Context(), path); ok {
		t.Error("what a capability read counts as seen by the task")
	}
}

// A capability gets no further through a built-in tool than by itself.
func TestNestedCallIsDecided(t *testing.T) {
	var envelopes []runtime.Envelope
	r := with(t, func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		for _, path := range []string{".env", "../outside/x", "none/../.git/config"} {
			envelopes = append(envelopes, rig.Call(ctx, access, "fs.read", object{"path": path}))
		}
		return object{}, nil
	})
	r.Put(".env", "SECRET")
	r.Put("none/x", "")
	r.Put(".git/config", "SECRET")
	r.Put(filepath.Join(r.Outside, "x"), "SECRET")
	r.Must("a.run", object{}, nil)
	for _, e := range envelopes {
		if e.OK || e.Error.Kind != fault.PermissionDenied && e.Error.Kind != fault.ApprovalRequired || strings.Contains(string(e.Output), "SECRET") {
			t.Errorf("%+v %s", e.Error, e.Output)
		}
		if got, want := r.Types(e.RunID), []string{"tool.started", "permission.decided", "tool.failed"}; !slices.Equal(got, want) {
			t.Errorf("events %v, want %v", got, want)
		}
	}
	unknown := with(t, func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		return object{}, rig.Call(ctx, access, "none.run", object{}).Error
	})
	failed(t, unknown.Call("a.run", object{}), fault.NotFound, "unknown_tool")
}

// G6: a capability that calls itself for ever ends at the depth limit.
func TestG6CallsItself(t *testing.T) {
	runs := 0
	var last *fault.Error
	r := with(t, func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		runs++
		e := rig.Call(ctx, access, "a.run", object{})
		if e.Error != nil && last == nil {
			last = e.Error
		}
		return object{}, nil
	})
	r.Must("a.run", object{}, nil)
	if runs != 4 || last == nil || last.Kind != fault.ResourceExhausted || last.Code != "call_depth" {
		t.Errorf("%d runs, ended by %+v", runs, last)
	}
}

// G6: two capabilities that call each other are no way round the limit.
func TestG6CallEachOther(t *testing.T) {
	runs := 0
	other := func(name string) rig.Guest {
		return func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			runs++
			rig.Call(ctx, access, name, object{})
			return object{}, nil
		}
	}
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": other("b.run"), "b": other("a.run")}})
	r.Must("a.run", object{}, nil)
	if runs != 4 {
		t.Errorf("%d runs", runs)
	}
}

// G5, G6: capabilities that call each other have one budget of calls.
func TestCallsHaveOneBudget(t *testing.T) {
	var made atomic.Int64
	var last, emit runtime.Envelope
	r := rig.New(t, rig.Options{Provider: rig.Guests{
		"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			for range 4 {
				last = rig.Call(ctx, access, "b.run", object{})
			}
			emit = rig.Call(ctx, access, "event.emit", object{"kind": "progress"})
			return object{}, nil
		},
		"b": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			for range 400 {
				if e := rig.Call(ctx, access, "event.emit", object{"kind": "progress"}); e.Error == nil {
					made.Add(1)
				}
			}
			return object{}, nil
		},
	}})
	r.Must("a.run", object{}, nil)
	if made.Load() != 1000-3 {
		t.Errorf("%d calls", made.Load())
	}
	failed(t, last, fault.ResourceExhausted, "host_calls")
	failed(t, emit, fault.ResourceExhausted, "host_calls")
	if last.Tool != "b.run" || last.RunID == "" || last.Artifacts == nil || emit.Version != 1 || emit.RunID == "" {
		t.Errorf("%+v %+v", last, emit)
	}
	if recorded := r.Types(last.RunID); len(recorded) > 0 {
		t.Errorf("beyond the budget calls are recorded: %v", recorded)
	}
}

// Only a capability's tool calls others.
func TestBuiltInToolCallsNone(t *testing.T) {
	var e runtime.Envelope
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{tool("test.calls", func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		e = rig.Call(ctx, access, "fs.list", object{"path": "."})
		return object{}, nil
	})}})
	r.Must("test.calls", object{}, nil)
	failed(t, e, fault.Internal, "bug")
	if e.Tool != "fs.list" || e.Version != 1 || e.RunID == "" || e.Artifacts == nil {
		t.Errorf("%+v", e)
	}
}

// G11: a guest speaks in its own name only. One that does not is stopped there.
func TestG11SpoofedEvent(t *testing.T) {
	var name string
	var emitted, after runtime.Envelope
	var cancelled bool
	run := rig.Guest(func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		emitted = rig.Call(ctx, access, "event.emit", object{"kind": "event", "name": name})
		after = rig.Call(context.WithoutCancel(ctx), access, "fs.list", object{"path": "."})
		cancelled = ctx.Err() != nil
		return object{}, nil
	})
	var spoofed []string
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": run}, Misbehaved: func(_ context.Context, capability, reason string) {
		spoofed = append(spoofed, capability+" "+reason)
	}})
	for _, name = range []string{"tool.completed", "permission.granted", "capability.b.done", "tool.progress", "capability.ab.x"} {
		spoofed = nil
		e := r.Call("a.run", object{})
		for _, refused := range []runtime.Envelope{emitted, after, e} {
			failed(t, refused, fault.PermissionDenied, "spoofed_event")
		}
		if !cancelled || len(e.Output) > 0 || !slices.Equal(spoofed, []string{"a emitted the event " + name + ", which is not its own"}) {
			t.Errorf("%s: the guest was told: %t; output %s; told of %v", name, cancelled, e.Output, spoofed)
		}
		if got, want := r.Types(e.RunID), []string{"tool.started", "permission.decided", "tool.failed"}; !slices.Equal(got, want) {
			t.Errorf("%s: events %v", name, got)
		}
		if recorded := r.Types(after.RunID); len(recorded) > 0 {
			t.Errorf("%s: a call after the end is recorded: %v", name, recorded)
		}
	}
}

// A capability that spoofs from a call of its own is stopped in all of its calls.
func TestG11SpoofedEventOfItself(t *testing.T) {
	depth := 0
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		if depth++; depth == 2 {
			rig.Call(ctx, access, "event.emit", object{"kind": "event", "name": "tool.completed"})
			return object{}, nil
		}
		rig.Call(ctx, access, "a.run", object{})
		rig.Call(context.WithoutCancel(ctx), access, "fs.write", object{"path": "after.txt", "content": "x"})
		return object{}, nil
	}}})
	failed(t, r.Call("a.run", object{}), fault.PermissionDenied, "spoofed_event")
	if _, err := os.Stat(filepath.Join(r.Root, "after.txt")); err == nil {
		t.Error("a disabled capability went on")
	}
}

// A capability that another one called is stopped alone.
func TestG11SpoofedEventOfCalled(t *testing.T) {
	var called runtime.Envelope
	r := rig.New(t, rig.Options{Provider: rig.Guests{
		"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			called = rig.Call(ctx, access, "b.run", object{})
			if e := rig.Call(ctx, access, "event.emit", object{"kind": "event", "name": "ok"}); !e.OK {
				return nil, e.Error
			}
			return object{}, nil
		},
		"b": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			rig.Call(ctx, access, "event.emit", object{"kind": "event", "name": "capability.a.done"})
			return object{}, nil
		},
	}})
	r.Must("a.run", object{}, nil)
	failed(t, called, fault.PermissionDenied, "spoofed_event")
}

func TestG11EventNames(t *testing.T) {
	var codes []string
	r := with(t, func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		for _, name := range []string{"Bad Name", "a..b", "", "ok", "capability.a.two"} {
			e := rig.Call(ctx, access, "event.emit", object{"kind": "event", "name": name, "payload": object{"n": 1}})
			code := "ok"
			if e.Error != nil {
				code = e.Error.Code
			}
			codes = append(codes, code)
		}
		return object{}, nil
	})
	var seen []event.Event
	cancel := r.Session.Events.Subscribe(func(e event.Event) {
		if !event.IsDurable(e.Type) {
			seen = append(seen, e)
		}
	})
	e := r.Must("a.run", object{}, nil)
	cancel()
	if want := []string{"bad_event_name", "bad_event_name", "schema", "ok", "ok"}; !slices.Equal(codes, want) {
		t.Errorf("got  %v\nwant %v", codes, want)
	}
	if len(seen) != 2 || seen[0].Type != "capability.a.ok" || seen[1].Type != "capability.a.two" || seen[0].Source != (event.Source{Kind: "capability", ID: "a"}) || string(seen[0].Payload) != `{"n":1}` {
		t.Errorf("%+v", seen)
	}
	if got, want := r.Types(e.RunID), []string{"tool.started", "permission.decided", "tool.completed"}; !slices.Equal(got, want) {
		t.Errorf("events %v", got)
	}
}
