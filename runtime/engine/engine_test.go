package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/wasmtests"
)

func TestMain(m *testing.M) {
	ServeIfWorker()
	serveIfSubverted()
	serveIfStaged()
	serveOnLinux()
	serveIfHost()
	status := m.Run()
	if dir, err := goCache(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

// fakeHandler answers tool calls with what a function says, or an empty object.
type fakeHandler struct {
	answer func(ctx context.Context, name string, request []byte) []byte
	names  []string
	emits  int
}

func (f *fakeHandler) ToolCall(ctx context.Context, name string, request []byte) []byte {
	f.names = append(f.names, name)
	if f.answer != nil {
		return f.answer(ctx, name, request)
	}
	return []byte(`{}`)
}

func (f *fakeHandler) Emit(context.Context, int32, []byte) hostabi.Code {
	f.emits++
	return 0
}

func newPool(t testing.TB) *Pool {
	p := NewPool(PoolOptions{CacheDir: t.TempDir(), Log: func(m string) { t.Log(m) }})
	t.Cleanup(p.Close)
	return p
}

func guest(t testing.TB, name string) Module { return moduleOf(t, wasmtests.Module(t, name)) }

func moduleOf(t testing.TB, code []byte) Module {
	return Module{Capability: "t", Tool: "t.t", Path: wasmtests.File(t, code), SHA256: sha256Hex(code)}
}

func invoke(t testing.TB, p *Pool, m Module, input string) (result, error) {
	t.Helper()
	return p.invoke(t.Context(), m, json.RawMessage(input), &fakeHandler{})
}

func mustInvoke(t testing.TB, p *Pool, m Module, input string) string {
	t.Helper()
	result, err := invoke(t, p, m, input)
	if err != nil {
		t.Fatal(err)
	}
	return string(result.output)
}

// wantFault checks kind and code of an error.
func wantFault(t testing.TB, err error, kind fault.Kind, code string) *fault.Error {
	t.Helper()
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Code != code {
		t.Fatalf("got %v, want %s %s", describeFault(err), kind, code)
	}
	return e
}

func describeFault(err error) string {
	var e *fault.Error
	if errors.As(err, &e) {
		return fmt.Sprintf("%s %s: %s", e.Kind, e.Code, e.Message)
	}
	return fmt.Sprint(err)
}

func TestCallEchoes(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	m.Config = json.RawMessage(`{"a":1}`)
	want := `{"tool":"t.t","input":{"x":"é"},"config":{"a":1}}`
	for range 3 { // the second and third in the same worker
		if got := mustInvoke(t, p, m, `{"x":"é"}`); got != want {
			t.Fatalf("got %s", got)
		}
	}
	if len(p.idle) != 1 || p.idle[0].worker.calls != 3 {
		t.Fatalf("the worker was not used again: %+v", p.idle)
	}
}

func TestLargeInput(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	m.Limits = runtime.Limits{InputBytes: 16 << 20, OutputBytes: 64 << 20}
	input := `"` + strings.Repeat("x", 10<<20) + `"`
	if got := mustInvoke(t, p, m, input); !strings.Contains(got, input) {
		t.Fatalf("%d bytes came back", len(got))
	}
	_, err := invoke(t, p, m, `"`+strings.Repeat("x", 18<<20)+`"`)
	wantFault(t, err, fault.InvalidInput, "input_bytes")
}

func TestNestedCall(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/nested")
	h := &fakeHandler{answer: func(_ context.Context, name string, request []byte) []byte {
		return fmt.Appendf(nil, `[%q,%s]`, name, request)
	}}
	result, err := p.invoke(t.Context(), m, nil, h)
	if err != nil || string(result.output) != `["t.t",{}]` {
		t.Fatalf("got %s, %v", result.output, err)
	}
}

// TestNestedCallsTakeOtherWorkers nests the same capability eight deep with one slot: no
// call waits for the one that it is inside of.
func TestNestedCallsTakeOtherWorkers(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/nested")
	m.Limits.ConcurrentCalls = 1
	depth := 0
	h := &fakeHandler{}
	h.answer = func(ctx context.Context, _ string, _ []byte) []byte {
		if depth++; depth == 8 {
			return []byte(`"bottom"`)
		}
		result, err := p.invoke(ctx, m, nil, h)
		if err != nil {
			t.Error(err)
		}
		return result.output
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	result, err := p.invoke(ctx, m, nil, h)
	if err != nil || string(result.output) != `"bottom"` {
		t.Fatalf("got %s, %v", result.output, err)
	}
	if len(p.idle) != 1 {
		t.Fatalf("%d idle workers, of use is 1", len(p.idle))
	}
}

func TestConcurrentCallsAreLimited(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/nested")
	m.Limits.ConcurrentCalls = 1
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	h := &fakeHandler{answer: func(context.Context, string, []byte) []byte {
		other, stop := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, enough)
		defer stop()
		_, err := p.invoke(other, m, nil, &fakeHandler{}) // not nested: another caller
		if !errors.Is(err, enough) {
			t.Errorf("a second call did not wait: %v", err)
		}
		return []byte(`1`)
	}}
	defer cancel(nil)
	if _, err := p.invoke(ctx, m, nil, h); err != nil {
		t.Fatal(err)
	}
}

func TestOutcomes(t *testing.T) {
	p := newPool(t)
	tests := []struct {
		guest string
		kind  fault.Kind
		code  string
		text  string
	}{
		{"guests/status", fault.GuestTrap, "bad_status", "returned 7"},
		{"guests/nojson", fault.GuestError, "bad_output", "not JSON"},
		{"guests/relay", fault.GuestError, "no_env", "cannot read .env"},
		{"guests/exit", fault.GuestTrap, "trap", "proc_exit(0)"},
		{"guests/trap", fault.GuestTrap, "trap", "unreachable"},
	}
	for _, test := range tests {
		t.Run(test.guest, func(t *testing.T) {
			_, err := invoke(t, p, guest(t, test.guest), `{}`)
			if e := wantFault(t, err, test.kind, test.code); !strings.Contains(e.Message, test.text) {
				t.Errorf("message %q does not say %q", e.Message, test.text)
			}
		})
	}
}

func TestTrapNamesFunctionsAndShowsTheLog(t *testing.T) {
	_, err := invoke(t, newPool(t), guest(t, "guests/trap"), `{}`)
	e := wantFault(t, err, fault.GuestTrap, "trap")
	stack := fmt.Sprint(e.Details["stack"])
	if !strings.Contains(stack, "inner") || !strings.Contains(stack, "outer") {
		t.Errorf("stack %v", stack)
	}
	if log := e.Details["log"]; log != "about to \uFFFD[2Jgo" {
		t.Errorf("log %q", log)
	}
}

func TestGuestErrorKeepsDetailsButNoForgedCause(t *testing.T) {
	_, err := invoke(t, newPool(t), guest(t, "guests/relay"), `{}`)
	e := wantFault(t, err, fault.GuestError, "no_env")
	if len(e.Details) != 1 || e.Details["tried"] != 1.0 {
		t.Errorf("details %v", e.Details)
	}
}

func TestContextEndsTheCall(t *testing.T) {
	p, m := newPool(t), guest(t, "hostile/loop")
	mine := errors.New("ctrl-C")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(200*time.Millisecond, func() { cancel(mine) })
	began := time.Now()
	_, err := p.invoke(ctx, m, nil, &fakeHandler{})
	if !errors.Is(err, mine) {
		t.Fatalf("got %v", err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("returned after %v", took)
	}
	if len(p.idle) != 0 {
		t.Error("a killed worker was kept")
	}
}

func TestEndedContextStartsNothing(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.invoke(ctx, m, nil, &fakeHandler{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestModuleChangedOnDisk(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	if err := os.WriteFile(m.Path, wasmtests.Module(t, "guests/nested"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := invoke(t, p, m, `{}`)
	wantFault(t, err, fault.Integrity, "module_changed")
	m.Path = t.TempDir()
	_, err = invoke(t, p, m, `{}`)
	wantFault(t, err, fault.Integrity, "module_unreadable")
}

// TestUnverifiedModule leaves out the checksum: nothing says what the module should be.
func TestUnverifiedModule(t *testing.T) {
	m := guest(t, "guests/echo")
	m.SHA256 = ""
	_, err := invoke(t, newPool(t), m, `{}`)
	wantFault(t, err, fault.Integrity, "module_changed")
}

func TestInvalidBodyIsRefusedByTheWorker(t *testing.T) {
	module := wasmtests.Module(t, "guests/status")
	// The import proof does not decode instructions: break the only one, i32.const 7.
	broken := []byte(strings.Replace(string(module), "\x41\x07\x0b", "\x41\x07\xff", 1))
	_, err := invoke(t, newPool(t), moduleOf(t, broken), `{}`)
	wantFault(t, err, fault.InvalidInput, "invalid_module")
}

func TestLimitsOutOfRange(t *testing.T) {
	m := guest(t, "guests/echo")
	m.Limits.ConcurrentCalls = -1
	_, err := invoke(t, newPool(t), m, `{}`)
	wantFault(t, err, fault.InvalidInput, "bad_limits")
}

func TestInitialMemoryAboveTheLimit(t *testing.T) {
	m := guest(t, "hostile/deepjson") // four pages
	m.Limits.MemoryBytes = 2 * hostabi.PageSize
	_, err := invoke(t, newPool(t), m, `{}`)
	wantFault(t, err, fault.InvalidInput, "initial_memory")
}

// spawning starts workers that are this program under another name, and argument.
func spawning(argv ...string) func() (*process, error) {
	return func() (*process, error) { return startProcess(argv) }
}

// busyWorkers counts those of calls under way.
func busyWorkers(p *Pool) (n int) {
	for _, m := range p.modules {
		n += m.busy
	}
	return n
}
