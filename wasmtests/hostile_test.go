package wasmtests

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/engine"
	"github.com/aircoding/air/runtime/permission"
)

// tool is carried out by a module.
func tool(t testing.TB, pool *engine.Pool, name string, module []byte) *runtime.Tool {
	sum := sha256.Sum256(module)
	capability, _, _ := strings.Cut(name, ".")
	return &runtime.Tool{
		Name: name, Version: 1, Capability: capability,
		InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`{}`),
		Implementation: engine.NewGuest(pool, engine.Module{Capability: capability, Tool: name, Path: File(t, module), SHA256: hex.EncodeToString(sum[:])}),
	}
}

func newPool(t testing.TB) *engine.Pool {
	pool := engine.NewPool(engine.PoolOptions{CacheDir: t.TempDir(), Log: func(m string) { t.Log(m) }})
	t.Cleanup(pool.Close)
	return pool
}

// TestHostile calls each hostile module through the registry, and after it a well-behaved
// one in the same pool.
func TestHostile(t *testing.T) {
	pool := newPool(t)
	tools := []*runtime.Tool{tool(t, pool, "good.next", Module(t, "guests/keeper-memory"))}
	for _, c := range Hostile() {
		tools = append(tools, tool(t, pool, c.tool(), c.Module(t)))
	}
	r := rig.New(t, rig.Options{Tools: tools})
	for _, c := range Hostile() {
		t.Run(filepath.Base(c.Name), func(t *testing.T) {
			if c.Phase == Compile {
				t.Skip("takes all of the compile limit; runtime/engine calls it with a shorter one")
			}
			ctx, cancel := context.WithCancel(t.Context())
			if c.Kind == fault.Timeout {
				ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
			}
			defer cancel()
			c.check(t, r.Registry.Call(ctx, runtime.Call{Tool: c.tool(), Input: json.RawMessage(`{}`)}))
			if next := r.Call("good.next", `{}`); string(next.Output) != "true" {
				t.Errorf("the next call: %s, %v", next.Output, next.Error)
			}
		})
	}
}

func (c Case) tool() string { return "hostile." + strings.ToLower(filepath.Base(c.Name)) }

// TestSelfCall has a guest that calls itself through the registry for ever: call_depth,
// 4, is the end of it (G6).
func TestSelfCall(t *testing.T) {
	self := tool(t, newPool(t), "t.t", Module(t, "guests/nested"))
	self.Owner = permission.Caller{Capability: "t", Digest: "sha256:t", Consented: true, Scopes: permission.Scopes{Tools: []string{"t.t"}}}
	r := rig.New(t, rig.Options{Provider: only{self}})
	got := r.Must("t.t", `{}`, nil).Output
	for range 3 {
		var nested runtime.Envelope
		if err := json.Unmarshal(got, &nested); err != nil || nested.Error != nil {
			t.Fatalf("%s: %v", got, err)
		}
		got = nested.Output
	}
	var last runtime.Envelope
	if err := json.Unmarshal(got, &last); err != nil || last.Error == nil || last.Error.Code != "call_depth" {
		t.Errorf("the last call: %s, %v", got, err)
	}
}

// only provides one tool.
type only struct{ tool *runtime.Tool }

// Tool implements runtime.Provider.
func (p only) Tool(_ context.Context, name string) (*runtime.Tool, error) {
	if name != p.tool.Name {
		return nil, runtime.UnknownTool(name)
	}
	return p.tool, nil
}

// Tools implements runtime.Provider.
func (p only) Tools(context.Context) ([]*runtime.Tool, error) { return []*runtime.Tool{p.tool}, nil }

func (c Case) check(t *testing.T, got runtime.Envelope) {
	t.Helper()
	if raceDetector && c.Says == "stack overflow" && got.Error != nil && got.Error.Kind == fault.ResourceExhausted {
		return // the detector's own memory ran out first
	}
	switch {
	case c.Kind == "" && (got.Error != nil || string(got.Output) != c.Output):
		t.Errorf("got %s, %v, want %s", got.Output, got.Error, c.Output)
	case c.Kind == "":
	case got.Error == nil:
		t.Errorf("got %s, want %s %s", got.Output, c.Kind, c.Code)
	case got.Error.Kind != c.Kind || c.Code != "" && got.Error.Code != c.Code || !strings.Contains(got.Error.Message, c.Says):
		t.Errorf("got %s %s: %s, want %s %s: %s", got.Error.Kind, got.Error.Code, got.Error.Message, c.Kind, c.Code, c.Says)
	}
}
