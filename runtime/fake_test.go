package runtime_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

type object = map[string]any

// with is a rig in which the capability a does what the function says.
func with(t *testing.T, g rig.Guest) *rig.Rig {
	t.Helper()
	return rig.New(t, rig.Options{Provider: rig.Guests{"a": g}})
}

// tool is a built-in tool for one test.
func tool(name string, g rig.Guest) *runtime.Tool {
	return &runtime.Tool{Name: name, Version: 1, Capability: "test", Implementation: g}
}

func failed(t *testing.T, e runtime.Envelope, kind fault.Kind, code string) {
	t.Helper()
	if e.OK || e.Error == nil || e.Error.Kind != kind || code != "" && e.Error.Code != code {
		t.Errorf("%s: got %+v, want %s/%s", e.Tool, e.Error, kind, code)
	}
}

func unchanged(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q: %v", path, got, err)
	}
}

// planned is a built-in tool that has the effects which its input lists, and does nothing.
func planned() *runtime.Tool {
	type in struct {
		Effects []permission.Effect `json:"effects"`
	}
	all := permission.Permissions{Read: true, Write: true, Execute: true, Network: true, SystemSensitive: true, Credentials: true, OutsideWrite: true}
	return &runtime.Tool{
		Name: "test.planned", Version: 1, Capability: "test", Permissions: all,
		InputSchema: json.RawMessage(`{"type": "object"}`), OutputSchema: json.RawMessage(`{"type": "object"}`),
		Implementation: runtime.Typed[in]{
			Effects: func(in in) ([]permission.Effect, error) { return in.Effects, nil },
			Do:      func(context.Context, *runtime.Access, in) (any, error) { return object{}, nil },
		},
	}
}

// effects are the input of the tool planned.
func effects(all ...permission.Effect) object { return object{"effects": all} }
