package engine

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/wasmtests"
)

func goGuest(t testing.TB) Module {
	t.Helper()
	m := moduleOf(t, wasmtests.GoModule(t))
	m.Tool = "words.run" // after the dot, what its SDK knows it by
	return m
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
	p.compileTimeout = 5 * time.Minute // the race detector makes the compiler ten times slower
	t.Cleanup(p.Close)
	return p
}

func TestGoGuest(t *testing.T) {
	p, m := goPool(t), goGuest(t)
	for input, want := range map[string]string{
		`{"op":"words","text":"éa b"}`: `{"upper":"éA B","words":2}`,
		`{"op":"sleep"}`:               `{"slept":true}`,
		`{"op":"files"}`:               `{"arguments":0,"environment":0,"error":"open /etc/passwd: Not implemented on wasip1"}`,
	} {
		if got := mustInvoke(t, p, m, input); got != want {
			t.Errorf("%s: got %s, want %s", input, got, want)
		}
	}
}

func TestGoGuestPrints(t *testing.T) {
	p, m := goPool(t), goGuest(t)
	for _, op := range []string{"print", "stdout"} { // to stderr, and to stdout
		result, err := invoke(t, p, m, fmt.Sprintf(`{"op":%q,"text":"a line"}`, op))
		if err != nil || string(result.log) != "a line\n" {
			t.Errorf("%s: log %q, %v", op, result.log, err)
		}
	}
}

func TestGoGuestPanics(t *testing.T) {
	_, err := invoke(t, goPool(t), goGuest(t), `{"op":"panic","text":"out of ideas"}`)
	e := wantFault(t, err, fault.GuestTrap, "trap")
	if log, _ := e.Details["log"].(string); !strings.Contains(log, "panic: out of ideas") {
		t.Errorf("log %q", log)
	}
	if stack := fmt.Sprint(e.Details["stack"]); !strings.Contains(stack, "main.only") {
		t.Errorf("stack %s", stack)
	}
}

func TestG2GoGuestHoards(t *testing.T) {
	_, err := invoke(t, goPool(t), goGuest(t), `{"op":"hoard"}`)
	wantFault(t, err, fault.ResourceExhausted, "memory")
}

var kilobyte = fmt.Sprintf(`{"op":"words","text":%q}`, strings.Repeat("hello wasm world ", 58))

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
	p, m := newPool(b), guest(b, "guests/nested")
	answer := []byte(kilobyte)
	h := &fakeHandler{answer: func(context.Context, string, []byte) []byte { return answer }}
	for b.Loop() {
		if _, err := p.invoke(b.Context(), m, nil, h); err != nil {
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
