package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/sandbox"
	"github.com/aircoding/air/wasmtests"
)

func TestG1EndlessWork(t *testing.T) {
	p := newPool(t)
	for _, name := range []string{"loop", "startloop", "callloop", "sleep", "explode"} {
		t.Run(name, func(t *testing.T) {
			m := guest(t, "hostile/"+name)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err := p.invoke(ctx, m, nil, &fakeHandler{})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("got %v", describeFault(err))
			}
			if late := time.Since(began) - 300*time.Millisecond; late > slowdown*100*time.Millisecond {
				t.Errorf("%v late", late)
			}
		})
	}
}

func TestG2MemoryAndTables(t *testing.T) {
	p := newPool(t)
	_, err := invoke(t, p, guest(t, "hostile/grow"), `{}`)
	wantFault(t, err, fault.ResourceExhausted, "memory")
	// The table stops growing at its clamped maximum, and the guest gives up.
	_, err = invoke(t, p, guest(t, "hostile/table"), `{}`)
	wantFault(t, err, fault.GuestTrap, "trap")
}

func TestG2MemoryStopsAtItsLimit(t *testing.T) {
	m := guest(t, "hostile/grow")
	m.Limits.MemoryBytes = 1 << 30
	_, err := invoke(t, newPool(t), m, `{}`)
	wantFault(t, err, fault.ResourceExhausted, "memory")
}

// TestG3Recursion ends at the engine's stack limit; under the race detector, which needs
// more memory for itself, it can end before that at the worker's limit.
func TestG3Recursion(t *testing.T) {
	_, err := invoke(t, newPool(t), guest(t, "hostile/recursion"), `{}`)
	if slowdown > 1 && fault.Is(err, fault.ResourceExhausted) {
		wantFault(t, err, fault.ResourceExhausted, "memory")
		return
	}
	if e := wantFault(t, err, fault.GuestTrap, "trap"); !strings.Contains(e.Message, "stack overflow") {
		t.Errorf("message %q", e.Message)
	}
}

// TestG4Pointers goes through the engine; every host function by itself is in hostabi.
func TestG4Pointers(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/probe")
	const page, scratch = 65536, 8192
	tests := []struct {
		what     string
		function int
		a        [4]uint32
		want     string
	}{
		{"input_read past the end", 0, [4]uint32{page - 1, 8, 0}, "-1"},
		{"input_read overflowing", 0, [4]uint32{0xffffffff, 8, 0}, "-1"},
		{"input_read from behind the input", 0, [4]uint32{0, 8, 1 << 31}, "0"},
		{"input_read huge capacity", 0, [4]uint32{scratch, 0xffffffff, 60}, "17"},
		{"output_write past the end", 1, [4]uint32{page - 4, 8}, "-1"},
		{"output_write of 4 GiB", 1, [4]uint32{0, 0xffffffff}, "-1"},
		{"tool_call wild name", 2, [4]uint32{0xfffffff0, 7, scratch + 64, 12}, "-1"},
		{"tool_call wild request", 2, [4]uint32{scratch, 7, page, 1}, "-1"},
		{"tool_call half a character", 2, [4]uint32{scratch + 128, 1, scratch + 64, 12}, "-1"},
		{"tool_call long name", 2, [4]uint32{0, 129, scratch + 64, 12}, "-2"},
		{"tool_call", 2, [4]uint32{scratch, 7, scratch + 64, 12}, "2"},
		{"result_read with nothing staged", 3, [4]uint32{scratch, 8, 0}, "-3"},
		{"emit wild payload", 4, [4]uint32{0, page - 1, 2}, "-1"},
		{"emit unknown kind", 4, [4]uint32{9, scratch, 2}, "-3"},
		{"fd_write wild vector", 5, [4]uint32{1, page - 4, 1, scratch}, "21"},
		{"fd_write to a file", 5, [4]uint32{3, scratch, 1, scratch}, "8"},
		{"random_get wild", 6, [4]uint32{page - 1, 2}, "21"},
		{"clock_time_get odd address", 7, [4]uint32{0, scratch + 1}, "0"},
		{"clock_time_get wild", 7, [4]uint32{1, page - 4}, "21"},
		{"poll_oneoff wild", 8, [4]uint32{page - 8, scratch, 1, scratch}, "21"},
		{"poll_oneoff of nothing", 8, [4]uint32{scratch, scratch, 0, scratch}, "28"},
		{"args_sizes_get wild", 9, [4]uint32{0xffffffff, 0}, "21"},
		{"fd_fdstat_get of a file", 10, [4]uint32{3, scratch}, "8"},
		{"fd_prestat_get", 11, [4]uint32{3, scratch}, "8"},
		{"path_open", 12, [4]uint32{scratch, 7, scratch}, "52"},
	}
	for _, test := range tests {
		input := fmt.Sprintf(`"%08x%08x%08x%08x%08x"`, test.function, test.a[0], test.a[1], test.a[2], test.a[3])
		if got := mustInvoke(t, p, m, input); got != test.want {
			t.Errorf("%s: got %s, want %s", test.what, got, test.want)
		}
	}
}

func TestG4PointersFixture(t *testing.T) {
	if got := mustInvoke(t, newPool(t), guest(t, "hostile/pointers"), `{}`); got != `{"sum":-5}` {
		t.Errorf("got %s", got)
	}
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

func TestG5HugeOutput(t *testing.T) {
	p, m := newPool(t), guest(t, "hostile/output")
	m.Limits.OutputBytes = 1 << 20
	_, err := invoke(t, p, m, `{}`)
	wantFault(t, err, fault.ResourceExhausted, "output_bytes")
	_, err = invoke(t, p, guest(t, "hostile/deepjson"), `{}`)
	wantFault(t, err, fault.GuestError, "bad_output")
}

func TestG7ForbiddenImport(t *testing.T) {
	_, err := invoke(t, newPool(t), guest(t, "hostile/system"), `{}`)
	if e := wantFault(t, err, fault.InvalidInput, "forbidden_import"); !strings.Contains(e.Message, `"system" from "env"`) {
		t.Errorf("message %q does not name the import", e.Message)
	}
}

func TestG9NothingStays(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/remember")
	for i := range 3 {
		if got := mustInvoke(t, p, m, `{}`); got != "true" {
			t.Fatalf("call %d found what an earlier one left", i)
		}
	}
	if p.idle[0].worker.calls != 3 {
		t.Fatal("the calls were not in one worker")
	}
}

// TestG10CompileBombs: what the import proof does not stop, the limits of the compiling
// worker do, here with a shorter deadline.
func TestG10CompileBombs(t *testing.T) {
	p := newPool(t)
	p.compile = 500 * time.Millisecond
	tests := []struct {
		name   string
		module []byte
		kind   fault.Kind
		code   string
	}{
		{"4 billion locals", wasmtests.Locals(), fault.InvalidInput, "module_too_complex"},
		{"300,000 functions", wasmtests.Functions(), fault.InvalidInput, "module_too_complex"},
		{"nested blocks", wasmtests.Nest(), fault.ResourceExhausted, "compile_limit"},
		{"br_table", wasmtests.BranchTable(), fault.ResourceExhausted, "compile_limit"},
		{"G18 locals times loops", wasmtests.LocalsTimesLoops(), fault.ResourceExhausted, "compile_limit"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := invoke(t, p, moduleOf(t, test.module), `{}`)
			wantFault(t, err, test.kind, test.code)
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

func TestG22HostCallsBeforeTheCall(t *testing.T) {
	h := &fakeHandler{}
	m := guest(t, "guests/early")
	result, err := newPool(t).invoke(t.Context(), m, nil, h)
	if err != nil || string(result.output) != "10" || len(h.names) > 0 || h.emits > 0 {
		t.Fatalf("%s of 10 refused, %v, host saw %v and %d emits", result.output, err, h.names, h.emits)
	}
}

// TestEachHostileModule runs all of them, each with another call behind it.
func TestEachHostileModule(t *testing.T) {
	const limit = 300 * time.Millisecond
	files, err := filepath.Glob("../../wasmtests/hostile/*.wasm")
	if err != nil || len(files) < 13 {
		t.Fatalf("%d modules, %v", len(files), err)
	}
	p, next := newPool(t), guest(t, "guests/echo")
	var modules []Module
	for _, file := range files {
		m := guest(t, "hostile/"+strings.TrimSuffix(filepath.Base(file), ".wasm"))
		_ = p.Compile(t.Context(), m) // the compiler has a limit of its own
		modules = append(modules, m)
	}
	mustInvoke(t, p, next, `{}`)
	before := heap()
	for i, m := range modules {
		t.Run(filepath.Base(files[i]), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			_, err := p.invoke(ctx, m, nil, &fakeHandler{})
			if late := time.Since(began) - limit; late > slowdown*100*time.Millisecond {
				t.Errorf("%v late", late)
			}
			var e *fault.Error
			if err != nil && !errors.As(err, &e) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			mustInvoke(t, p, next, `{}`)
		})
	}
	if grown := heap() - before; grown > 8<<20 {
		t.Errorf("the host's heap grew by %d KiB", grown>>10)
	}
}

func heap() int64 {
	var m goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestHostStaysFlat runs a hundred hostile calls and looks at what they cost the host.
func TestHostStaysFlat(t *testing.T) {
	p := newPool(t)
	var modules []Module
	for _, name := range []string{"hostile/loop", "hostile/grow", "hostile/output", "guests/trap"} {
		m := guest(t, name)
		m.Limits = runtime.Limits{MemoryBytes: 16 << 20, OutputBytes: 1 << 20}
		modules = append(modules, m)
	}
	run := func(n int) {
		for i := range n {
			m := modules[i%len(modules)]
			ctx, cancel := context.WithTimeout(t.Context(), 25*time.Millisecond)
			_, err := p.invoke(ctx, m, nil, &fakeHandler{})
			cancel()
			if err == nil && !strings.HasSuffix(m.Path, "wasm") {
				t.Fatal("unreachable")
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
