package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/engine"

	"golang.org/x/sys/unix"
)

// kilobyte is the input of the text task, 1 KiB, and upper its answer.
var (
	kilobyte = fmt.Sprintf(`{"op":"echo","n":5,"tags":["a","b","c"],"text":%q}`, strings.Repeat("hello wasm world ", 57))
	upper    = fmt.Sprintf(`{"upper":%q,"words":171,"tags":3,"n":5}`, strings.Repeat("HELLO WASM WORLD ", 57))
)

const cModule = "c/air.wasm"

// callsInARow is how many calls one turn of a comparison makes.
const callsInARow = 20

// guest is a module with workers of its own, called without a registry: what is measured
// is the call and its isolation, not permissions and events.
type guest struct {
	b              *testing.B
	pool           *engine.Pool
	implementation *engine.Guest
}

func newGuest(b *testing.B, path string) *guest {
	b.Helper()
	return newGuestIn(b, engine.PoolOptions{}, path)
}

func newGuestIn(b *testing.B, options engine.PoolOptions, path string) *guest {
	b.Helper()
	module, err := os.ReadFile(path)
	fatal(b, err)
	sum := sha256.Sum256(module)
	options.CacheDir = b.TempDir()
	pool := engine.NewPool(options)
	b.Cleanup(pool.Close)
	m := engine.Module{
		Capability: "text", Tool: "text.run", Path: path, SHA256: hex.EncodeToString(sum[:]),
		Limits: runtime.Limits{HostCalls: nested * 2, ConcurrentCalls: 8},
	}
	return &guest{b, pool, engine.NewGuest(pool, m)}
}

// call makes a call of the text task. The guest asks for nothing, so that no access is
// wanted.
func (g *guest) call() error {
	output, err := g.implementation.Run(g.b.Context(), nil, json.RawMessage(kilobyte))
	if err != nil {
		return err
	}
	if got, ok := output.(json.RawMessage); !ok || string(got) != upper {
		return fmt.Errorf("the guest answers %s", output)
	}
	return nil
}

func (g *guest) mustCall() {
	fatal(g.b, g.call())
}

// calls is the part that makes n calls by each of several callers; its time is the median
// of one call.
func (g *guest) calls(n, callers int) part {
	if callers == 1 {
		return batch(n, g.mustCall)
	}
	return func() time.Duration {
		all := make([]time.Duration, callers)
		g.together(callers, func(i int) error {
			var err error
			all[i] = batch(n, func() { err = errors.Join(err, g.call()) })()
			return err
		})
		return median(all)
	}
}

// together runs work for each of several callers at once.
func (g *guest) together(callers int, work func(i int) error) {
	failures := make([]error, callers)
	var done sync.WaitGroup
	for i := range callers {
		done.Go(func() { failures[i] = work(i) })
	}
	done.Wait()
	fatal(g.b, errors.Join(failures...))
}

// BenchmarkIsolatedCall measures a call of 1 KiB of JSON in a running process, through a
// worker that is ready, against Extism and against starting a native program.
func BenchmarkIsolatedCall(b *testing.B) {
	p := built(b)
	inGo, inC := newGuest(b, p.textModule), newGuest(b, cModule)
	inGo.mustCall()
	parts := []part{
		inGo.calls(callsInARow, 1),
		inC.calls(callsInARow, 1),
		timed(func() {
			if out := execute(b, ".", nil, kilobyte, p.text); out != upper {
				b.Fatalf("the native program answers %s", out)
			}
		}),
	}
	x, err := newPeer(b)
	if err != nil {
		orSay(err)
		got := medians(b, parts...)
		report("isolated_call_go/native_process", got[0], got[2])
		return
	}
	for _, plugin := range []string{x.goPlugin, x.cPlugin} {
		for _, mode := range extismModes {
			parts = append(parts, x.calls(b, plugin, mode, callsInARow, 1))
		}
	}
	got := medians(b, parts...)
	report("isolated_call_go/native_process", got[0], got[2])
	for i, mode := range extismModes {
		report("isolated_call_go/extism_"+mode, got[0], got[3+i])
	}
	for i, mode := range extismModes {
		report("isolated_call_c/extism_"+mode, got[1], got[3+len(extismModes)+i])
	}
}

var extismModes = []string{"fresh", "fresh_timeout", "reused", "reused_timeout"}

// BenchmarkBusyCall measures the same with a caller for each processor: nothing is idle
// that could wait for an answer in a loop.
func BenchmarkBusyCall(b *testing.B) {
	x, err := newPeer(b)
	if err != nil {
		orSay(err)
		return
	}
	inC := newGuest(b, cModule)
	const callers = 2
	got := medians(b, inC.calls(callsInARow, callers), x.calls(b, x.cPlugin, "fresh", callsInARow, callers))
	report("isolated_call_c_two_callers/extism_fresh", got[0], got[1])
}

// BenchmarkThroughput compares two callers on all processors with the same two on one.
func BenchmarkThroughput(b *testing.B) {
	const calls = 100
	for _, c := range []struct{ name, path string }{{"go", built(b).textModule}, {"c", cModule}} {
		on := func(processors unix.CPUSet) part {
			pin(b, processors)
			g := newGuest(b, c.path) // its workers stay where they were started
			g.together(2, func(int) error { return g.call() })
			return func() time.Duration {
				pin(b, processors)
				return timed(func() {
					g.together(2, func(int) (err error) {
						for range calls / 2 {
							err = errors.Join(err, g.call())
						}
						return err
					})
				})()
			}
		}
		var all, one unix.CPUSet
		fatal(b, unix.SchedGetaffinity(0, &all))
		one.Set(first(all))
		got := medians(b, on(one), on(all))
		pin(b, all)
		report("throughput_two_workers_"+c.name+"/one", got[0], got[1]) // the time that one processor takes, of all
	}
}

func first(set unix.CPUSet) (processor int) {
	for !set.IsSet(processor) {
		processor++
	}
	return processor
}

// pin has all threads of this process, and those that they start, run on some processors.
func pin(b *testing.B, processors unix.CPUSet) {
	b.Helper()
	threads, err := os.ReadDir("/proc/self/task")
	fatal(b, err)
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		fatal(b, err)
		if err := unix.SchedSetaffinity(id, &processors); err != unix.ESRCH { // a thread may end meanwhile
			fatal(b, err)
		}
	}
}

// BenchmarkCallAfterKill compares a call after one whose worker was killed at its
// deadline with a call after an ordinary one, where the pool keeps a spare worker.
func BenchmarkCallAfterKill(b *testing.B) {
	for _, c := range []struct{ name, path string }{{"go", built(b).textModule}, {"c", cModule}} {
		g := newGuestIn(b, engine.PoolOptions{Spare: true}, c.path)
		g.mustCall()
		got := medians(b,
			func() time.Duration { g.kill(); return timed(g.mustCall)() },
			func() time.Duration { g.mustCall(); return timed(g.mustCall)() },
		)
		report("call_after_kill_"+c.name+"/normal_call", got[0], got[1])
	}
}

// kill makes a call that does not end by itself. It lasts long enough for a spare worker
// to load.
func (g *guest) kill() {
	ctx, cancel := context.WithTimeout(g.b.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := g.implementation.Run(ctx, nil, json.RawMessage(`{"op":"loop"}`))
	if !errors.Is(err, context.DeadlineExceeded) {
		g.b.Fatalf("a loop ends with %v", err)
	}
}
