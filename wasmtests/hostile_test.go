package wasmtests

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	goruntime "runtime"
	"slices"
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
// one in the same pool. None holds the host up beyond its deadline, or leaves it larger.
func TestHostile(t *testing.T) {
	pool := newPool(t)
	tools := []*runtime.Tool{tool(t, pool, "good.next", Module(t, "guests/keeper-memory"))}
	for _, c := range Hostile() {
		tools = append(tools, tool(t, pool, c.tool(), c.Module(t)))
	}
	r := rig.New(t, rig.Options{Tools: tools})
	r.Call("good.next", `{}`)
	before := heap()
	for _, c := range Hostile() {
		t.Run(filepath.Base(c.Name), func(t *testing.T) {
			if c.Phase == Compile {
				t.Skip("takes all of the compile limit; runtime/engine calls it with a shorter one")
			}
			c.call(t, r)
			if next := r.Call("good.next", `{}`); string(next.Output) != "true" {
				t.Errorf("the next call: %s, %v", next.Output, next.Error)
			}
		})
	}
	if grown := heap() - before; grown > 8<<20 {
		t.Errorf("the host's heap grew by %d KiB", grown>>10)
	}
}

func (c Case) call(t *testing.T, r *rig.Rig) {
	t.Helper()
	const deadline = 300 * time.Millisecond
	ctx := t.Context()
	if c.Kind == fault.Timeout {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, deadline)
		defer cancel()
	}
	began := time.Now()
	c.check(t, r.Registry.Call(ctx, runtime.Call{Tool: c.tool(), Input: json.RawMessage(`{}`)}))
	if late := time.Since(began) - deadline; c.Kind == fault.Timeout && late > Slowdown*100*time.Millisecond {
		t.Errorf("%v late", late)
	}
}

func heap() int64 {
	var m goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestHostileIsComplete finds the committed modules that the table forgets.
func TestHostileIsComplete(t *testing.T) {
	files, err := filepath.Glob("hostile/*.wat")
	if err != nil || len(files) == 0 {
		t.Fatal("no modules", err)
	}
	cases := Hostile()
	for _, file := range files {
		if name := strings.TrimSuffix(file, ".wat"); !slices.ContainsFunc(cases, func(c Case) bool { return c.Name == name }) {
			t.Errorf("%s is not in the table", name)
		}
	}
	for _, c := range cases {
		if (c.Phase == Compile) != (c.Code == "compile_limit") {
			t.Errorf("%s: phase %s and code %s", c.Name, c.Phase, c.Code)
		}
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
	if Slowdown > 1 && c.Says == "stack overflow" && got.Error != nil && got.Error.Kind == fault.ResourceExhausted {
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
