package runtime_test

import (
	"os"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
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
