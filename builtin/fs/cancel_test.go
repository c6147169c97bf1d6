package fs_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/builtin/fs"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// interrupted is a tool whose call is cancelled as it begins to act.
type interrupted struct {
	runtime.Implementation
	cancel context.CancelCauseFunc
}

func (i interrupted) Run(ctx context.Context, access *runtime.Access, input json.RawMessage) (any, error) {
	i.cancel(errors.New("interrupt"))
	return i.Implementation.Run(ctx, access, input)
}

// endless makes a text that takes longer to read than anybody waits.
func endless(t *testing.T, r *rig.Rig) {
	t.Helper()
	must(t, os.Truncate(r.Put("endless", strings.Repeat("text\n", 5000)), 1<<40))
}

// A call that a person interrupts is cancelled, whatever it was doing.
func TestInterrupted(t *testing.T) {
	for name, input := range map[string]object{
		"fs.read":  {"path": "endless", "offset_lines": 100},
		"fs.list":  {"path": "."},
		"fs.write": {"path": "a.txt", "content": "new"}, // while it backs up
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r := rig.New(t, rig.Options{Approver: rig.Yes, Tools: []*runtime.Tool{{
			Name: "test." + name, Version: 1, Capability: "test", Implementation: interrupted{fs.Tools()[name], cancel},
			Permissions: permission.Permissions{Read: true, Write: true},
		}}})
		endless(t, r)
		path := r.Put("a.txt", "old")
		e := r.Registry.Call(ctx, runtime.Call{Tool: "test." + name, Input: r.JSON(input)})
		failed(t, e, fault.Cancelled, "cancelled")
		if types := r.Types(e.RunID); !slices.Contains(types, "tool.cancelled") {
			t.Errorf("%s: %v", name, types)
		}
		if content(t, path) != "old" {
			t.Error("a.txt was replaced")
		}
		clean(t, r.Root)
	}
}

func TestReadingTakesTooLong(t *testing.T) {
	r := rig.New(t, rig.Options{})
	endless(t, r)
	input := r.JSON(object{"path": "endless", "offset_lines": 9000})
	e := r.Registry.Call(r.Context(), runtime.Call{Tool: "fs.read", Input: input, Timeout: 50 * time.Millisecond})
	failed(t, e, fault.Timeout, "deadline")
	ctx, cancel := context.WithTimeout(r.Context(), 50*time.Millisecond) // the caller's own
	defer cancel()
	failed(t, r.Registry.Call(ctx, runtime.Call{Tool: "fs.read", Input: input}), fault.Timeout, "deadline")
}
