package engine

import (
	"context"
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/sandbox"
	"github.com/aircoding/air/wasmtests"
)

// How a call of each hostile module ends is for the table of wasmtests, which runs them in
// a pool. Here are those that need other limits, or a look at the pool.

func TestG2MemoryStopsAtItsLimit(t *testing.T) {
	m := guest(t, "hostile/grow")
	m.Limits.MemoryBytes = 1 << 30
	_, err := invoke(t, newPool(t), m, `{}`)
	wantFault(t, err, fault.ResourceExhausted, "memory")
}

func TestG5MillionHostCalls(t *testing.T) {
	p, m := newPool(t), guest(t, "hostile/million")
	m.Limits.HostCalls = 1000
	h := &fakeHandler{}
	result, err := p.invoke(t.Context(), m, nil, h)
	if err != nil || string(result.output) != "1000" || len(h.names)+h.emits != 1000 {
		t.Fatalf("%s, %v: %d tool calls, %d emits", result.output, err, len(h.names), h.emits)
	}
}

// TestG10CompileBombs: what the import proof does not stop, the limits of the compiling
// worker do, here with a shorter deadline.
func TestG10CompileBombs(t *testing.T) {
	p := newPool(t)
	p.compileTimeout = 500 * time.Millisecond
	for _, c := range wasmtests.Hostile() {
		if c.Phase != wasmtests.Compile {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			_, err := invoke(t, p, moduleOf(t, c.Module(t)), `{}`)
			wantFault(t, err, c.Kind, c.Code)
		})
	}
}

func TestContextEndsCompilation(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := newPool(t).invoke(ctx, moduleOf(t, wasmtests.BranchTable()), nil, &fakeHandler{})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Second {
		t.Fatalf("after %v: %v", time.Since(began), err)
	}
}

// TestHostStaysFlat runs a hundred hostile calls and looks at what they cost the host.
func TestHostStaysFlat(t *testing.T) {
	p := newPool(t)
	ends := map[string]fault.Kind{
		"hostile/loop": fault.Timeout, "hostile/grow": fault.ResourceExhausted, "hostile/output": fault.ResourceExhausted, "guests/trap": fault.GuestTrap,
	}
	var modules []Module
	for name := range ends {
		m := guest(t, name)
		m.Capability = name
		m.Limits = runtime.Limits{MemoryBytes: 16 << 20, OutputBytes: 1 << 20}
		modules = append(modules, m)
	}
	run := func(n int) {
		for i := range n {
			m := modules[i%len(modules)]
			ctx, cancel := context.WithTimeout(t.Context(), 25*time.Millisecond)
			_, err := p.invoke(ctx, m, nil, &fakeHandler{})
			cancel()
			// A busy machine may reach the deadline before the guest reaches its end.
			if e := fault.From(err); err == nil || e.Kind != ends[m.Capability] && e.Kind != fault.Timeout {
				t.Fatalf("%s: got %v", m.Capability, describeFault(err))
			}
		}
	}
	run(20)
	before, files := sandbox.ResidentBytes(os.Getpid()), openFiles(t)
	run(100)
	if grown := sandbox.ResidentBytes(os.Getpid()) - before; grown > 32<<20 {
		t.Errorf("the host grew by %d MiB", grown>>20)
	}
	if now := openFiles(t); now > files+2*p.options.MaxWorkers {
		t.Errorf("%d open descriptors, %d before", now, files)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/" + strconv.Itoa(os.Getpid()) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
