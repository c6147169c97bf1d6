package wazero

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/wasmtests"
)

const memoryLimit = 64 << 20

// load compiles a module in memory, which the end of the test gives back: a worker lives as
// long as its engine.
func load(t testing.TB, module []byte) *Engine {
	t.Helper()
	e := &Engine{}
	if err := e.Load(module, hostabi.AirV1, memoryLimit); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.runtime.Close(context.Background()); err != nil {
			t.Error(err)
		}
		_ = unix.Munmap(e.memory.reserved) // nothing where no instance was made
	})
	return e
}

func call(input string) *hostabi.Call {
	return &hostabi.Call{Input: []byte(input), Limits: hostabi.Limits{OutputBytes: 1 << 20, HostCalls: 10, LogBytes: 1 << 10}}
}

// answers runs calls, resetting after every second, and compares their output.
func answers(t *testing.T, e *Engine, input string, want ...string) {
	t.Helper()
	for i, output := range want {
		c := call(input)
		if status, err := e.Run(c); status != 0 || err != nil || string(c.Output) != output {
			t.Errorf("call %d of %q: status %d, %v, output %.40q, want %.40q", i, input, status, err, c.Output, output)
		}
		if i%2 == 1 {
			e.Reset()
		}
	}
}

func TestRun(t *testing.T) {
	for _, interpreter := range []bool{false, true} {
		e := &Engine{Interpreter: interpreter}
		if err := e.Load(wasmtests.Module(t, "guests/echo"), hostabi.AirV1, memoryLimit); err != nil {
			t.Fatal(err)
		}
		for _, input := range []string{"a", "", strings.Repeat("long", 50_000)} {
			answers(t, e, input, input, input, input)
		}
	}
}

func TestMemoryAboveTheLimit(t *testing.T) {
	e := &Engine{}
	err := e.Load(wasmtests.Module(t, "guests/state"), hostabi.AirV1, hostabi.PageSize-1)
	if err == nil || errors.Is(err, ErrCache) || !strings.Contains(err.Error(), "65536 bytes of memory, and the limit is 65535") {
		t.Errorf("got %v", err)
	}
}

func TestInvalidModule(t *testing.T) {
	invalid := []byte("\x00asm\x01\x00\x00\x00\x01\x02\x03")
	if err := (&Engine{}).Load(invalid, hostabi.AirV1, 1<<20); err == nil || errors.Is(err, ErrCache) {
		t.Errorf("got %v", err)
	}
	if err := (&Engine{}).Compile(invalid, t.TempDir()); err == nil || errors.Is(err, ErrCache) {
		t.Errorf("got %v", err)
	}
}

// TestG9State runs a guest that finds what earlier calls left in memory, in memory that one
// of them grew, and in globals. Conformance has the others of that kind.
func TestG9State(t *testing.T) {
	for _, interpreter := range []bool{false, true} {
		for _, freeze := range []bool{false, true} {
			e := &Engine{Interpreter: interpreter}
			if err := e.Load(wasmtests.Module(t, "guests/state"), hostabi.AirV1, memoryLimit); err != nil {
				t.Fatal(err)
			}
			if freeze && e.Freeze() == nil || e.Frozen() != freeze {
				t.Errorf("frozen %t, want %t", e.Frozen(), freeze)
			}
			answers(t, e, "", "clean", "clean", "clean")
			answers(t, e, "g", "clean", "clean", "clean") // grows
			answers(t, e, "", "clean", "clean")
			if _, err := e.Run(call("tt")); err == nil {
				t.Error("no trap")
			}
			answers(t, e, "", "clean", "clean")
		}
	}
}

// TestInstanceIsKept shows that the cheap way of a reset is taken where it can be.
func TestInstanceIsKept(t *testing.T) {
	for _, c := range []struct {
		name, input string
		freeze      bool
		kept        bool
	}{
		{"state", "", true, true},
		{"state", "g", true, false},       // memory grew
		{"state", "tt", true, false},      // trapped
		{"state", "", false, false},       // _initialize grows the memory
		{"keeper-table", "", true, false}, // not freezable
	} {
		e := load(t, wasmtests.Module(t, "guests/"+c.name))
		if c.freeze {
			e.Freeze()
		}
		e.Reset()
		before := e.instance
		_, _ = e.Run(call(c.input))
		e.Reset()
		if kept := e.instance == before; kept != c.kept || e.instance == nil || e.instance.used {
			t.Errorf("%s %q, freeze %t: kept %t", c.name, c.input, c.freeze, kept)
		}
	}
}

func TestMemoryIsClean(t *testing.T) {
	m := &memory{limit: 64 << 20}
	for _, size := range []uint64{1 << 16, 1 << 20, keepBytes, keepBytes + 1<<16, 1 << 16} {
		b := m.Allocate(0, 0).Reallocate(1 << 16)
		b = append(b[:0:0], b...)
		all := m.Reallocate(size)
		if !bytes.Equal(all, make([]byte, size)) || len(b) != 1<<16 {
			t.Fatalf("%d bytes are not clean", size)
		}
		for i := range all {
			all[i] = 0xff
		}
		m.Free()
	}
	if m.Reallocate(64<<20+1<<16) != nil || !m.refused {
		t.Error("memory above the limit")
	}
}

// TestAbandonedMemoryIsClean takes memory again that an instance never gave back.
func TestAbandonedMemoryIsClean(t *testing.T) {
	m := &memory{limit: 1 << 20}
	m.Allocate(0, 0).Reallocate(1 << 16)[5] = 1
	if b := m.Allocate(0, 0).Reallocate(1 << 16); b[5] != 0 {
		t.Error("not clean")
	}
}
