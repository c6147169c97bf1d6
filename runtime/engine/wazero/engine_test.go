package wazero

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/wasmtests"
)

const memoryLimit = 64 << 20

// load compiles a module in memory.
func load(t testing.TB, module []byte) *Engine {
	t.Helper()
	e := &Engine{}
	if err := e.Load(module, "", memoryLimit); err != nil {
		t.Fatal(err)
	}
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
		if err := e.Load(wasmtests.Module(t, "guests/echo"), "", memoryLimit); err != nil {
			t.Fatal(err)
		}
		for _, input := range []string{"a", "", strings.Repeat("long", 50_000)} {
			answers(t, e, input, input, input, input)
		}
	}
}

func TestTrapNamesFunctions(t *testing.T) {
	module := wasmtests.Module(t, "guests/trap")
	for how, e := range map[string]*Engine{"in memory": load(t, module), "from a folder": fromFolder(t, compile(t, module))} {
		_, err := e.Run(call(""))
		if err == nil || !strings.HasPrefix(err.Error(), "wasm error: unreachable\n") || !strings.Contains(err.Error(), ".inner()") {
			t.Errorf("%s: got %v", how, err)
		}
	}
}

func TestExitIsATrap(t *testing.T) {
	e := load(t, wasmtests.Module(t, "guests/exit"))
	var exit *hostabi.ExitError
	if _, err := e.Run(call("")); !errors.As(err, &exit) {
		t.Errorf("got %v", err)
	}
}

func TestMemoryRefusedIsOfOneCall(t *testing.T) {
	e := load(t, wasmtests.Module(t, "hostile/grow"))
	if _, err := e.Run(call("")); err == nil || !e.MemoryRefused() {
		t.Errorf("%v, refused %v", err, e.MemoryRefused())
	}
	echo := load(t, wasmtests.Module(t, "guests/echo"))
	echo.memory.refused = true
	if _, err := echo.Run(call("")); err != nil || echo.MemoryRefused() {
		t.Errorf("%v, refused %v", err, echo.MemoryRefused())
	}
}

func TestMemoryAboveTheLimit(t *testing.T) {
	e := &Engine{}
	err := e.Load(module(t, "state"), "", hostabi.PageSize-1)
	if err == nil || errors.Is(err, ErrCache) || !strings.Contains(err.Error(), "65536 bytes of memory, and the limit is 65535") {
		t.Errorf("got %v", err)
	}
}

func TestInvalidModule(t *testing.T) {
	invalid := []byte("\x00asm\x01\x00\x00\x00\x01\x02\x03")
	if err := (&Engine{}).Load(invalid, "", 1<<20); err == nil || errors.Is(err, ErrCache) {
		t.Errorf("got %v", err)
	}
	if err := (&Engine{}).Compile(invalid, t.TempDir()); err == nil || errors.Is(err, ErrCache) {
		t.Errorf("got %v", err)
	}
}

// TestG9NothingSurvives runs guests that look for what an earlier call left in memory, in
// memory that it grew and gave up, in globals, tables and segments.
func TestG9NothingSurvives(t *testing.T) {
	for name, c := range map[string]struct {
		module []byte
		clean  string
		frozen bool
	}{
		"remember": {wasmtests.Module(t, "guests/remember"), "true", false},
		"tables":   {module(t, "tables"), "clean", false},
		"segments": {module(t, "segments"), "clean", false},
		"state":    {module(t, "state"), "clean", true},
	} {
		for _, how := range []string{"compiled", "compiled and frozen", "interpreted", "interpreted and frozen"} {
			if name == "remember" && strings.HasPrefix(how, "interpreted") {
				continue // it looks at 26 MB a call: the interpreter takes minutes under the race detector
			}
			t.Run(name+" "+how, func(t *testing.T) {
				freeze := strings.HasSuffix(how, "frozen")
				e := &Engine{Interpreter: strings.HasPrefix(how, "interpreted")}
				if err := e.Load(c.module, "", memoryLimit); err != nil {
					t.Fatal(err)
				}
				if freeze && (e.Freeze() != nil) != c.frozen || e.Frozen() != (freeze && c.frozen) {
					t.Errorf("frozen %t, want %t", e.Frozen(), c.frozen)
				}
				answers(t, e, "", c.clean, c.clean, c.clean)
				answers(t, e, "g", c.clean, c.clean, c.clean) // grows
				answers(t, e, "", c.clean, c.clean)
				_, _ = e.Run(call("tt")) // traps
				answers(t, e, "", c.clean, c.clean)
			})
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
		{"state", "g", true, false},  // memory grew
		{"state", "tt", true, false}, // trapped
		{"state", "", false, false},  // _initialize grows the memory
		{"tables", "", true, false},  // not freezable
	} {
		e := load(t, module(t, c.name))
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
