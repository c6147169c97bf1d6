package runtime_test

import (
	"context"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// writesBelow is a tool that asks for a folder with all below it and writes one path.
func writesBelow() *runtime.Tool {
	type in struct{ Folder, Path string }
	t := tool("test.below", nil)
	t.Permissions = permission.Permissions{Read: true, Write: true}
	t.InputSchema, t.OutputSchema = []byte(`{"type": "object"}`), []byte(`{"type": "object"}`)
	t.Implementation = runtime.Typed[in]{
		Effects: func(in in) ([]permission.Effect, error) {
			return []permission.Effect{{Kind: permission.Write, Target: in.Folder, Recursive: true}}, nil
		},
		Do: func(ctx context.Context, access *runtime.Access, in in) (any, error) {
			_, err := access.Files.Write(ctx, in.Path, []byte("new"), runtime.WriteOptions{Parents: true})
			return object{}, err
		},
	}
	return t
}

// What lies below a folder that may be written is decided by itself when it is written.
func TestRecursiveWrite(t *testing.T) {
	yes := rig.New(t, rig.Options{Tools: []*runtime.Tool{writesBelow()}, Approver: rig.Yes})
	// A rule about the folder's name says nothing of what is in it.
	ruled := rig.New(t, rig.Options{Tools: []*runtime.Tool{writesBelow()}, Rules: "schema_version: 1\nrules:\n  - allow: overwrite(out)\n"})
	for _, c := range []struct {
		path            string
		approved, ruled fault.Kind
	}{
		{"out/new", "", ""},
		{"out/deep/new", "", ""},
		{"out/old", "", fault.ApprovalRequired},
		{"out/.vscode/tasks.json", fault.ApprovalRequired, fault.ApprovalRequired},
		{"out/.env", fault.PermissionDenied, fault.PermissionDenied},
		{"outer/new", fault.PermissionDenied, fault.PermissionDenied},
		{"out/../new", fault.PermissionDenied, fault.PermissionDenied},
	} {
		for r, want := range map[*rig.Rig]fault.Kind{yes: c.approved, ruled: c.ruled} {
			r.Put("out/old", "old")
			r.Put("outer/old", "old")
			e := r.Call("test.below", object{"Folder": "out", "Path": c.path})
			var got fault.Kind
			if e.Error != nil {
				got = e.Error.Kind
			}
			if got != want {
				t.Errorf("%s (approved: %t): got %q, want %q: %v", c.path, r == yes, got, want, e.Error)
			}
		}
	}
}
