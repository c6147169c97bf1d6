package runtime_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

var (
	toHost   = permission.Effect{Kind: permission.Net, Target: "https://example.com:443"}
	fetching = permission.Effect{Kind: permission.Run, Target: "npm install", Risk: permission.RiskNetwork}
	unknown  = permission.Effect{Kind: permission.Run, Target: "./x", Risk: permission.RiskOpaque}
	building = permission.Effect{Kind: permission.Run, Target: "go build ./...", Risk: permission.RiskWorkspace}
)

// withCredential is a rig with a person's file of credentials and someone who allows all.
func withCredential(t *testing.T, o rig.Options) (*rig.Rig, string) {
	t.Helper()
	o.Approver, o.Tools = rig.Yes, append(o.Tools, planned())
	r := rig.New(t, o)
	return r, r.Put(filepath.Join(filepath.Dir(r.Home.Dir), ".aws", "credentials"), "SECRET")
}

func TestNetworkAfterCredentials(t *testing.T) {
	dir := t.TempDir()
	r, path := withCredential(t, rig.Options{Dir: dir})
	r.Must("test.planned", effects(toHost, fetching), nil)
	r.Must("fs.read", object{"path": path}, nil)
	for _, e := range []permission.Effect{toHost, fetching} {
		failed(t, r.Call("test.planned", effects(e)), fault.PermissionDenied, "credentials_flow")
	}
	r.Must("test.planned", effects(building, unknown), nil)
	other, _ := withCredential(t, rig.Options{Dir: dir}) // another process in the same session
	failed(t, other.Call("test.planned", effects(toHost)), fault.PermissionDenied, "credentials_flow")
	explained, err := r.Registry.Explain(t.Context(), runtime.Call{Tool: "test.planned", Input: r.JSON(effects(toHost))})
	if err != nil {
		t.Fatal(err)
	}
	if d := explained[len(explained)-1].Final; d.Verdict != permission.Deny || d.Code != "credentials_flow" {
		t.Errorf("%+v", d)
	}
}

// A read that was refused was none.
func TestNetworkAfterRefusedRead(t *testing.T) {
	r := rig.New(t, rig.Options{Tools: []*runtime.Tool{planned()}, Rules: "schema_version: 1\nrules:\n  - allow: net(https://example.com:443)\n"})
	path := r.Put(filepath.Join(filepath.Dir(r.Home.Dir), ".aws", "credentials"), "SECRET")
	failed(t, r.Call("fs.read", object{"path": path}), fault.ApprovalRequired, "")
	r.Must("test.planned", effects(toHost), nil)
}

// One call that reads and sends is two calls at once.
func TestNetworkWithCredentials(t *testing.T) {
	r, path := withCredential(t, rig.Options{})
	read := permission.Effect{Kind: permission.Read, Target: path}
	failed(t, r.Call("test.planned", effects(read, toHost)), fault.PermissionDenied, "credentials_flow")
	r.Must("test.planned", effects(toHost), nil) // it did not come to the read
	r.Must("test.planned", effects(read), nil)
	failed(t, r.Call("test.planned", effects(toHost)), fault.PermissionDenied, "credentials_flow")
}

func TestRuleNamesThePair(t *testing.T) {
	r, path := withCredential(t, rig.Options{Rules: "schema_version: 1\nrules:\n  - allow: net(https://example.com:443)\n    after: read(~/.aws/**)\n"})
	r.Must("fs.read", object{"path": path}, nil)
	r.Must("test.planned", effects(toHost), nil)
	failed(t, r.Call("test.planned", effects(permission.Effect{Kind: permission.Net, Target: "https://example.org:443"})), fault.PermissionDenied, "credentials_flow")
}

// A file found below a folder whose reading was allowed counts where it is opened.
func TestNetworkAfterRecursiveRead(t *testing.T) {
	opens := &runtime.Tool{
		Name: "test.opens", Version: 1, Capability: "test", Permissions: permission.Permissions{Read: true, SystemSensitive: true, Credentials: true},
		InputSchema: json.RawMessage(`{"type": "object"}`), OutputSchema: json.RawMessage(`{"type": "object"}`),
	}
	opens.Implementation = runtime.Typed[struct{ Home, Path string }]{
		Effects: func(in struct{ Home, Path string }) ([]permission.Effect, error) {
			return []permission.Effect{{Kind: permission.Read, Target: in.Home, Recursive: true}}, nil
		},
		Do: func(_ context.Context, access *runtime.Access, in struct{ Home, Path string }) (any, error) {
			f, err := access.Files.Open(in.Path)
			if err != nil {
				return nil, err
			}
			return object{}, f.Close()
		},
	}
	r, path := withCredential(t, rig.Options{Tools: []*runtime.Tool{opens}, Rules: "schema_version: 1\nrules:\n  - allow: read(~/**)\n  - allow: read(~/.aws/credentials)\n"})
	home := filepath.Dir(r.Home.Dir)
	plain := r.Put(filepath.Join(home, "plain.txt"), "")
	r.Must("test.opens", object{"Home": home, "Path": plain}, nil)
	r.Must("test.planned", effects(toHost), nil)
	r.Must("test.opens", object{"Home": home, "Path": path}, nil)
	failed(t, r.Call("test.planned", effects(toHost)), fault.PermissionDenied, "credentials_flow")
}

// A secret counts where a command gets to see it, not where the runtime puts it into a
// request.
func TestNetworkAfterSecret(t *testing.T) {
	r, _ := withCredential(t, rig.Options{})
	secret := permission.Effect{Kind: permission.Secret, Target: "TOKEN"}
	noted := func() []string {
		all, err := r.Session.Credentials(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	r.Must("test.planned", effects(secret, toHost), nil)
	if got := noted(); len(got) > 0 {
		t.Errorf("%v are noted", got)
	}
	r.Must("test.planned", effects(secret, building), nil)
	if got := noted(); !slices.Equal(got, []string{"secret(TOKEN)"}) {
		t.Errorf("%v are noted", got)
	}
}

// broad are guests that may use a secret, commands and the network.
type broad struct{ rig.Guests }

func (p broad) Tool(ctx context.Context, name string) (*runtime.Tool, error) {
	t, err := p.Guests.Tool(ctx, name)
	if err != nil {
		return nil, err
	}
	o := &t.Owner
	o.Permissions.Execute, o.Permissions.Network, o.Permissions.Credentials = true, true, true
	o.Permissions.SystemSensitive, o.Permissions.OutsideWrite = true, true
	o.Scopes.Secrets, o.Scopes.Commands, o.Scopes.Network = []string{"TOKEN"}, []string{building.Target}, []string{toHost.Target}
	o.Scopes.Tools = append(o.Scopes.Tools, "test.planned")
	return t, nil
}

// What a capability gets to see, those that called it get as its result.
func TestNetworkAfterSecretOfCalled(t *testing.T) {
	call := func(ctx context.Context, access *runtime.Access, all ...permission.Effect) *fault.Error {
		return rig.Call(ctx, access, "test.planned", effects(all...)).Error
	}
	var before, using, after *fault.Error
	guests := rig.Guests{
		"a": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			before = call(ctx, access, toHost)
			rig.Call(ctx, access, "b.run", object{})
			after = call(ctx, access, toHost)
			return object{}, nil
		},
		"b": func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
			using = call(ctx, access, permission.Effect{Kind: permission.Secret, Target: "TOKEN"}, building)
			return object{}, nil
		},
	}
	r, _ := withCredential(t, rig.Options{Provider: broad{guests}})
	r.Must("a.run", object{}, nil)
	if before != nil || using != nil {
		t.Fatalf("%+v, %+v", before, using)
	}
	if after == nil || after.Kind != fault.PermissionDenied || after.Code != "credentials_flow" {
		t.Errorf("%+v", after)
	}
	r.Must("test.planned", effects(toHost), nil) // who called a is another chain
}
