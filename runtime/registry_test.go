package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

func TestCall(t *testing.T) {
	r := rig.New(t, rig.Options{})
	r.Put("a.txt", "abc")
	e := r.Must("fs.read", object{"path": "a.txt"}, nil)
	if !e.OK || e.Tool != "fs.read" || e.Version != 1 || e.RunID == "" || e.Artifacts == nil {
		t.Errorf("%+v", e)
	}
	if got, want := r.Types(e.RunID), []string{"tool.started", "permission.decided", "tool.completed"}; !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	if report, err := r.Session.Events.Verify(r.Context()); err != nil || len(report.Problems) > 0 {
		t.Errorf("the chain: %v %v", report.Problems, err)
	}
}

func TestRefusedCall(t *testing.T) {
	r := rig.New(t, rig.Options{})
	r.Put(".env", "SECRET")
	e := r.Call("fs.read", object{"path": ".env"})
	failed(t, e, fault.PermissionDenied, "protected_path")
	if e.Error.Hint == "" || e.Error.Details["rule"] == "" || e.Output != nil {
		t.Errorf("%+v", e.Error)
	}
	if got, want := r.Types(e.RunID), []string{"tool.started", "permission.decided", "tool.failed"}; !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

func TestBadCalls(t *testing.T) {
	r := rig.New(t, rig.Options{})
	deep := json.RawMessage(strings.Repeat("[", 100) + strings.Repeat("]", 100))
	for _, c := range []struct {
		tool  string
		input string
		kind  fault.Kind
		code  string
	}{
		{"none.such", `{}`, fault.NotFound, "unknown_tool"},
		{"fs.read", ``, fault.InvalidInput, "schema"},
		{"fs.read", `{`, fault.InvalidInput, "bad_json"},
		{"fs.read", `{"path": "a"} {}`, fault.InvalidInput, "bad_json"},
		{"fs.read", `{"path": 1}`, fault.InvalidInput, "schema"},
		{"fs.read", `{"path": "a", "limit_lines": 1e999999}`, fault.InvalidInput, "bad_json"},
		{"fs.read", string(deep), fault.InvalidInput, "bad_json"},
		{"fs.read", `{"path": ""}`, fault.InvalidInput, "schema"},
	} {
		failed(t, r.Call(c.tool, c.input), c.kind, c.code)
	}
}

func TestToolsAreSortedAndUnique(t *testing.T) {
	nothing := rig.Guest(func(context.Context, *runtime.Access, json.RawMessage) (any, error) { return object{}, nil })
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": nothing, "zz": nothing}})
	all, err := r.Registry.Tools(r.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range all {
		names = append(names, tool.Name)
	}
	if !slices.IsSorted(names) || !slices.Contains(names, "a.run") || !slices.Contains(names, "fs.read") {
		t.Errorf("%v", names)
	}
	if _, err := runtime.New(runtime.Config{}, tool("x.y", nothing), tool("x.y", nothing)); err == nil {
		t.Error("two tools of one name")
	}
}

// ownerless is a provider that forgets to say whose its tools are.
type ownerless struct{ rig.Guests }

func (p ownerless) Tool(ctx context.Context, name string) (*runtime.Tool, error) {
	t, err := p.Guests.Tool(ctx, name)
	if err == nil {
		t.Owner = permission.Caller{}
	}
	return t, err
}

func (p ownerless) Tools(ctx context.Context) ([]*runtime.Tool, error) {
	all, err := p.Guests.Tools(ctx)
	for _, t := range all {
		t.Owner = permission.Caller{}
	}
	return all, err
}

// A tool without an owner counts as built in, so a provider cannot bring one.
func TestProvidedToolHasAnOwner(t *testing.T) {
	ran := false
	r := rig.New(t, rig.Options{Provider: ownerless{rig.Guests{"a": func(context.Context, *runtime.Access, json.RawMessage) (any, error) {
		ran = true
		return object{}, nil
	}}}})
	failed(t, r.Call("a.run", object{}), fault.Internal, "bug")
	if all, err := r.Registry.Tools(r.Context()); err == nil {
		t.Errorf("listed: %+v", all)
	}
	if ran {
		t.Error("it ran")
	}
	failed(t, r.Call("none.run", object{}), fault.NotFound, "unknown_tool")
}

// A tool that breaks ends its call, says that this is a bug, and nothing else breaks.
func TestPanickingTool(t *testing.T) {
	plan := runtime.Typed[object]{Effects: func(object) ([]permission.Effect, error) { panic("in plan") }}
	run := rig.Guest(func(context.Context, *runtime.Access, json.RawMessage) (any, error) { panic("in run") })
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{{Name: "test.plan", Implementation: plan}, tool("test.run", run)}})
	for _, name := range []string{"test.plan", "test.run"} {
		e := r.Call(name, object{})
		failed(t, e, fault.Internal, "bug")
		if types := r.Types(e.RunID); types[len(types)-1] != "tool.failed" {
			t.Errorf("%v", types)
		}
	}
	r.Must("fs.list", object{"path": "."}, nil)
}

func TestOutputIsValidated(t *testing.T) {
	for name, c := range map[string]struct {
		output any
		kind   fault.Kind
	}{
		"wrong type":      {[]int{1}, fault.GuestError},
		"nothing":         {nil, fault.GuestError},
		"not JSON":        {json.RawMessage(`{"a":`), fault.GuestError},
		"too deep":        {json.RawMessage(strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)), fault.GuestError},
		"exponent":        {json.RawMessage(`{"a": 1e999999}`), fault.GuestError},
		"not encodable":   {object{"f": func() {}}, fault.Internal},
		"invalid UTF-8":   {json.RawMessage("{\"a\": \"\xff\"}"), fault.GuestError},
		"duplicate keys":  {json.RawMessage(`{"a": {"b": 1, "b": 2}}`), fault.GuestError},
		"trailing values": {json.RawMessage(`{} {}`), fault.GuestError},
	} {
		t.Run(name, func(t *testing.T) {
			r := with(t, func(context.Context, *runtime.Access, json.RawMessage) (any, error) { return c.output, nil })
			e := r.Call("a.run", object{})
			failed(t, e, c.kind, "")
			if e.Output != nil {
				t.Errorf("what was refused is returned: %s", e.Output)
			}
			if _, err := json.Marshal(e); err != nil {
				t.Error(err)
			}
		})
	}
}

// A tool that fails may return what it had done; broken JSON is dropped.
func TestPartialOutput(t *testing.T) {
	var output any
	r := with(t, func(context.Context, *runtime.Access, json.RawMessage) (any, error) {
		return output, fault.New(fault.Conflict, "half", "half done").With("n", 1)
	})
	output = object{"done": 1}
	if e := r.Call("a.run", object{}); e.OK || e.Error.Code != "half" || string(e.Output) != `{"done":1}` {
		t.Errorf("%+v", e)
	}
	for _, broken := range []string{`{"done":`, `{"done": 1, "done": 2}`} {
		output = json.RawMessage(broken)
		if e := r.Call("a.run", object{}); e.OK || e.Error.Code != "half" || e.Output != nil {
			t.Errorf("%s: %+v", broken, e)
		}
	}
}

func TestLargeOutputIsKept(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	r := with(t, func(context.Context, *runtime.Access, json.RawMessage) (any, error) {
		return object{"large": large}, nil
	})
	e := r.Must("a.run", object{}, nil)
	if len(e.Artifacts) != 1 || len(e.Output) < 1<<20 {
		t.Fatalf("artifacts %v, %d bytes", e.Artifacts, len(e.Output))
	}
	record, err := r.Session.Artifacts.Get(r.Context(), e.Artifacts[0])
	if err != nil || record.Type != "output" || record.Capability != "a" || record.Size != int64(len(e.Output)) || record.RunID != e.RunID {
		t.Errorf("%+v %v", record, err)
	}
	for _, event := range r.Events(e.RunID) {
		if len(event.Payload) > 8<<10 {
			t.Errorf("%s has a payload of %d bytes", event.Type, len(event.Payload))
		}
	}
}

// What a guest says in an error is bounded in the record of it.
func TestLargeErrorIsRecorded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	r := with(t, func(context.Context, *runtime.Access, json.RawMessage) (any, error) {
		return nil, fault.New(fault.GuestError, "own", "%s", long).With("details", long)
	})
	e := r.Call("a.run", object{})
	failed(t, e, fault.GuestError, "own")
	if types := r.Types(e.RunID); types[len(types)-1] != "tool.failed" {
		t.Errorf("%v", types)
	}
}

func TestToolError(t *testing.T) {
	r := with(t, func(context.Context, *runtime.Access, json.RawMessage) (any, error) { return nil, errors.New("plain") })
	e := r.Call("a.run", object{})
	failed(t, e, fault.Internal, "bug")
}
