package event_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
)

type object = map[string]any

func failed(t *testing.T, e runtime.Envelope, kind fault.Kind, code string) {
	t.Helper()
	if e.OK || e.Error == nil || e.Error.Kind != kind || e.Error.Code != code {
		t.Errorf("%s: got %+v, want %s/%s", e.Tool, e.Error, kind, code)
	}
}

// What a guest says while it works is shown and leaves nothing behind.
func TestEmitLeavesNoRecord(t *testing.T) {
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		for _, input := range []object{
			{"kind": "log", "level": "warn", "msg": strings.Repeat("ä", 5000)},
			{"kind": "progress", "fraction": 0.5, "message": "half"},
			{"kind": "partial", "output": object{"n": 1}},
		} {
			if e := rig.Call(ctx, access, "event.emit", input); e.Error != nil {
				return nil, e.Error
			}
		}
		return object{}, rig.Call(ctx, access, "event.emit", object{"kind": "partial", "output": strings.Repeat("x", 65<<10)}).Error
	}}})
	var seen []event.Event
	cancel := r.Session.Events.Subscribe(func(e event.Event) {
		seen = append(seen, e)
	})
	failed(t, r.Call("a.run", object{}), fault.InvalidInput, "too_large")
	cancel()
	var types []string
	for _, e := range seen {
		types = append(types, e.Type)
		if e.Type == "tool.log" && (len(e.Payload) > 9<<10 || !strings.Contains(string(e.Payload), "ää\"")) {
			t.Errorf("log payload of %d bytes", len(e.Payload))
		}
	}
	if want := []string{"tool.started", "permission.decided", "tool.log", "tool.progress", "tool.partial", "tool.failed"}; !slices.Equal(types, want) {
		t.Errorf("seen %v, want %v", types, want)
	}
	if got, want := r.Types(""), []string{"tool.started", "permission.decided", "tool.failed"}; !slices.Equal(got[len(got)-3:], want) || slices.Contains(got, "tool.progress") {
		t.Errorf("stored %v", got)
	}
	failed(t, r.Call("event.emit", object{"kind": "event", "name": "x"}), fault.InvalidInput, "no_capability")
}

func TestEmitRefuses(t *testing.T) {
	r := rig.New(t, rig.Options{})
	for _, input := range []object{
		{"kind": "other"}, {}, {"kind": "log"}, {"kind": "partial"}, {"kind": "event"},
		{"kind": "progress", "fraction": 2}, {"kind": "log", "msg": "x", "name": "y"},
	} {
		failed(t, r.Call("event.emit", input), fault.InvalidInput, "schema")
	}
}
