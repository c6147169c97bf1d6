package git_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
)

// TestGuest: a capability gets no more from git than from files, and reaches no repository
// above the project.
func TestGuest(t *testing.T) {
	var seen []runtime.Envelope
	guest := rig.Guest(func(ctx context.Context, a *runtime.Access, _ json.RawMessage) (any, error) {
		seen = nil
		for _, call := range []struct {
			tool  string
			input object
		}{
			{"git.diff", object{"cwd": "."}},
			{"git.status", object{"cwd": ".."}},
			{"git.merge_workspace", object{"workspace_id": "x", "strategy": "fast_forward"}},
		} {
			seen = append(seen, rig.Call(ctx, a, call.tool, call.input))
		}
		return object{}, nil
	})
	p := newProject(t, rig.Options{Provider: rig.Guests{"g": guest}})
	p.Put(".env", "old\n")
	p.Put("a.txt", "old\n")
	p.commit(p.Root, "one")
	p.Put(".env", "hush\n")
	p.Put("a.txt", "new\n")
	p.Must("g.run", object{}, nil)
	for i, e := range seen {
		if e.Error == nil && (i > 0 || strings.Contains(string(e.Output), "hush")) || e.Error != nil && i == 0 && e.Error.Kind != fault.PermissionDenied {
			t.Errorf("%s: %+v %s", e.Tool, e.Error, e.Output)
		}
	}
}
