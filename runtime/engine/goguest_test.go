package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
)

// buildGoGuest compiles testdata/goguest once for all tests.
var buildGoGuest = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "goguest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-o", out, "testdata/goguest/main.go")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return os.ReadFile(out)
})

func goGuest(t testing.TB) Module {
	t.Helper()
	code, err := buildGoGuest()
	if err != nil {
		t.Fatal(err)
	}
	return moduleOf(t, code)
}

// goCache is where the tests of this file share one compiled guest; TestMain removes it.
var goCache = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "gocache") })

func goPool(t testing.TB) *Pool {
	t.Helper()
	dir, err := goCache()
	if err != nil {
		t.Fatal(err)
	}
	p := NewPool(PoolOptions{CacheDir: dir, Log: func(m string) { t.Log(m) }})
	p.compile = 5 * time.Minute // the race detector makes the compiler ten times slower
	t.Cleanup(p.Close)
	return p
}

func TestGoGuest(t *testing.T) {
	p, m := goPool(t), goGuest(t)
	tests := []struct{ op, want string }{
		{"echo", `{"tool":"t.t","upper":"ÉA"}`},
		{"sleep", `true`},
		{"call", `{}`},
		{"files", `"open /etc/passwd: Not implemented on wasip1 [] []`},
	}
	for _, test := range tests {
		got := mustInvoke(t, p, m, fmt.Sprintf(`{"op":%q,"text":"éa"}`, test.op))
		if !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: got %s, want %s", test.op, got, test.want)
		}
	}
}

func TestGoGuestPrints(t *testing.T) {
	p, m := goPool(t), goGuest(t)
	result, err := invoke(t, p, m, `{"op":"print"}`)
	if err != nil || string(result.log) != "to stderr\nto stdout\n" {
		t.Errorf("log %q, %v", result.log, err)
	}
}

func TestGoGuestPanics(t *testing.T) {
	_, err := invoke(t, goPool(t), goGuest(t), `{"op":"panic"}`)
	e := wantFault(t, err, fault.GuestTrap, "trap")
	if log, _ := e.Details["log"].(string); !strings.Contains(log, "panic: out of ideas") {
		t.Errorf("log %q", log)
	}
	if stack := fmt.Sprint(e.Details["stack"]); !strings.Contains(stack, "main.run") {
		t.Errorf("stack %s", stack)
	}
}

func TestG2GoGuestHoards(t *testing.T) {
	_, err := invoke(t, goPool(t), goGuest(t), `{"op":"hoard"}`)
	wantFault(t, err, fault.ResourceExhausted, "memory")
}

var kilobyte = fmt.Sprintf(`{"op":"echo","text":%q}`, strings.Repeat("hello wasm world ", 58))

func BenchmarkIsolatedCall(b *testing.B) {
	run := func(m Module, p *Pool) func(b *testing.B) {
		return func(b *testing.B) {
			mustInvoke(b, p, m, kilobyte)
			for b.Loop() {
				mustInvoke(b, p, m, kilobyte)
			}
		}
	}
	b.Run("small", run(guest(b, "guests/echo"), newPool(b)))
	b.Run("go", run(goGuest(b), goPool(b)))
}

// BenchmarkNestedCall measures one tool_call of 1 KiB inside a call.
func BenchmarkNestedCall(b *testing.B) {
	p, m := newPool(b), guest(b, "guests/probe")
	m.Limits.HostCalls = 100_000
	answer := []byte(kilobyte)
	h := &fakeHandler{answer: func(context.Context, string, []byte) []byte { return answer }}
	input := json.RawMessage(`"0000000200002000000000070000200000000400"`)
	for b.Loop() {
		if _, err := p.invoke(b.Context(), m, input, h); err != nil {
			b.Fatal(err)
		}
	}
}

// childrenCPU is what the workers that ended have used of the processors.
func childrenCPU(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSpawn measures a call for which a worker has to be started, its module being
// in the cache.
func BenchmarkSpawn(b *testing.B) {
	run := func(m Module, cache *Pool) func(b *testing.B) {
		return func(b *testing.B) {
			mustInvoke(b, cache, m, kilobyte)
			cache.Close()
			before := childrenCPU(b)
			for b.Loop() {
				p := NewPool(cache.options)
				mustInvoke(b, p, m, kilobyte)
				p.Close()
			}
			b.ReportMetric(float64((childrenCPU(b)-before).Microseconds())/1000/float64(b.N), "worker-cpu-ms/op")
		}
	}
	b.Run("small", run(guest(b, "guests/echo"), newPool(b)))
	b.Run("go", run(goGuest(b), goPool(b)))
}
