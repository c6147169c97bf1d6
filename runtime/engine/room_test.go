package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/wasmtests"
)

// handClock is a clock that a test moves.
type handClock struct {
	mu     sync.Mutex
	at     time.Time
	timers map[*time.Time]func()
}

func (c *handClock) clock() clock {
	c.at, c.timers = time.Unix(1e9, 0), map[*time.Time]func(){}
	return clock{
		now: func() time.Time {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.at
		},
		after: func(d time.Duration, f func()) func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			due := c.at.Add(d)
			c.timers[&due] = f
			return func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				_, waits := c.timers[&due]
				delete(c.timers, &due)
				return waits
			}
		},
	}
}

// advance runs what is due, in this goroutine.
func (c *handClock) advance(d time.Duration) {
	c.mu.Lock()
	c.at = c.at.Add(d)
	var due []func()
	for at, f := range c.timers {
		if !at.After(c.at) {
			due = append(due, f)
			delete(c.timers, at)
		}
	}
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

func boundedPool(t testing.TB, workers int, bytes int64) *Pool {
	p := NewPool(PoolOptions{CacheDir: t.TempDir(), MaxWorkers: workers, MaxBytes: bytes, Log: func(m string) { t.Log(m) }})
	t.Cleanup(p.Close)
	return p
}

// named returns a module for another capability.
func (m Module) named(capability string) Module {
	m.Capability = capability
	return m
}

func TestIdleWorkersEndAfterAMinute(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	var hand handClock
	p.clock = hand.clock()
	mustInvoke(t, p, m.named("a"), `{}`)
	hand.advance(40 * time.Second)
	mustInvoke(t, p, m.named("b"), `{}`)
	first := p.idle[0].worker
	hand.advance(19 * time.Second)
	if len(p.idle) != 2 {
		t.Fatalf("%d idle workers after 59 s", len(p.idle))
	}
	hand.advance(time.Second)
	if len(p.idle) != 1 || p.idle[0].key.capability != "b" || !first.gone(10*time.Second) {
		t.Fatalf("idle after a minute: %+v", p.idle)
	}
	mustInvoke(t, p, m.named("b"), `{}`) // its minute begins anew
	hand.advance(40 * time.Second)
	if len(p.idle) != 1 {
		t.Fatal("a worker ended before its time")
	}
	hand.advance(20 * time.Second)
	if len(p.idle) != 0 || p.room != (room{}) || len(hand.timers) != 0 {
		t.Fatalf("idle %+v, room %+v, %d timers", p.idle, p.room, len(hand.timers))
	}
}

func TestIdleWorkersMakeRoom(t *testing.T) {
	p, m := boundedPool(t, 3, 0), guest(t, "guests/echo")
	for i := range 5 {
		mustInvoke(t, p, m.named(strconv.Itoa(i)), `{}`)
	}
	if len(p.idle) != 3 || p.idle[0].key.capability != "2" || p.room.workers != 3 {
		t.Errorf("idle %+v, room %+v", p.idle, p.room)
	}
}

func TestIdleWorkersMakeRoomInBytes(t *testing.T) {
	m := guest(t, "guests/echo")
	m.Limits = runtime.Limits{MemoryBytes: 64 << 20}
	whole, _ := m.complete()
	p := boundedPool(t, 0, 2*whole.need())
	mustInvoke(t, p, m.named("a"), `{}`)
	mustInvoke(t, p, m.named("b"), `{}`)
	if len(p.idle) != 2 {
		t.Errorf("%d idle workers, two fit", len(p.idle))
	}
	m.Limits.MemoryBytes = 65 << 20
	mustInvoke(t, p, m.named("c"), `{}`)
	if len(p.idle) != 1 {
		t.Errorf("%d idle workers, the large one fits with none", len(p.idle))
	}
	m.Limits.MemoryBytes = 1 << 30 // more than there is: by itself it is allowed
	mustInvoke(t, p, m.named("d"), `{}`)
	if len(p.idle) != 1 || p.idle[0].key.capability != "d" {
		t.Errorf("idle %+v", p.idle)
	}
}

// TestFullPool has a call wait for the only worker of a pool while its context lasts.
func TestFullPool(t *testing.T) {
	p, m := boundedPool(t, 1, 0), guest(t, "guests/nested")
	enough := errors.New("enough")
	waited := 0
	h := &fakeHandler{answer: func(context.Context, string, []byte) []byte {
		other, stop := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, enough)
		defer stop()
		_, err := p.invoke(other, m.named("other"), nil, &fakeHandler{}) // not nested: another caller
		if errors.Is(err, enough) {
			waited++
		}
		return []byte(`1`)
	}}
	if _, err := p.invoke(t.Context(), m, nil, h); err != nil || waited != 1 {
		t.Fatalf("waited %d times, %v", waited, err)
	}
	if _, err := invoke(t, p, m.named("other"), `{}`); err != nil {
		t.Fatal(err)
	}
	if p.room.workers != 1 || len(p.waiting) != 0 {
		t.Errorf("room %+v, %d wait", p.room, len(p.waiting))
	}
}

// TestNestedCallsGoOverTheBounds nests calls of different capabilities in a pool for one.
func TestNestedCallsGoOverTheBounds(t *testing.T) {
	p, m := boundedPool(t, 1, 0), guest(t, "guests/nested")
	depth := 0
	h := &fakeHandler{}
	h.answer = func(ctx context.Context, _ string, _ []byte) []byte {
		if depth++; depth == 4 {
			return []byte(`"bottom"`)
		}
		result, err := p.invoke(ctx, m.named(strconv.Itoa(depth)), nil, h)
		if err != nil {
			t.Error(err)
		}
		return result.output
	}
	result, err := p.invoke(t.Context(), m, nil, h)
	if err != nil || string(result.output) != `"bottom"` {
		t.Fatalf("got %s, %v", result.output, err)
	}
	if p.room.workers != 1 || len(p.idle) != 1 || busyWorkers(p) != 0 {
		t.Errorf("room %+v, %d idle, %d busy", p.room, len(p.idle), busyWorkers(p))
	}
}

// withoutProcesses returns a pool of which only the bookkeeping is used.
func withoutProcesses(workers int) *Pool {
	return NewPool(PoolOptions{MaxWorkers: workers})
}

// finish gives back the room of a call whose worker never started.
func (p *Pool) finish(m Module) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unreserve(m)
}

// TestCallsGetRoomInOrder queues calls behind one and looks at who is next.
func TestCallsGetRoomInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := withoutProcesses(1)
		defer p.Close()
		m, _ := Module{}.complete()
		if _, err := p.admit(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		turns := make(chan int, 10)
		for i := range 10 {
			go func() {
				if _, err := p.admit(t.Context(), m.named(strconv.Itoa(i))); err != nil {
					t.Error(err)
				}
				turns <- i
			}()
			synctest.Wait()
		}
		p.finish(m)
		for i := range 10 {
			synctest.Wait()
			if len(turns) != 1 {
				t.Fatalf("%d calls got room, there is for 1", len(turns))
			}
			if got := <-turns; got != i {
				t.Errorf("turn %d went to %d", i, got)
			}
			p.finish(m.named(strconv.Itoa(i)))
		}
		if p.room != (room{}) || busyWorkers(p) != 0 {
			t.Errorf("room %+v, busy %d", p.room, busyWorkers(p))
		}
	})
}

// TestWaitingCallsThatGiveUp has the first of the queue give up at the moment at which it
// is served.
func TestWaitingCallsThatGiveUp(t *testing.T) {
	for range 200 {
		p := withoutProcesses(1)
		m, _ := Module{}.complete()
		if _, err := p.admit(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() {
			if _, err := p.admit(ctx, m); err == nil {
				p.finish(m)
			}
		})
		done.Go(func() {
			if _, err := p.admit(t.Context(), m); err != nil {
				t.Error(err)
			}
			p.finish(m)
		})
		done.Go(cancel)
		done.Go(func() { p.finish(m) })
		done.Wait()
		if p.room != (room{}) || len(p.waiting) != 0 {
			t.Fatalf("room %+v, %d wait", p.room, len(p.waiting))
		}
		p.Close()
	}
}

func TestClosingEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := withoutProcesses(1)
		m, _ := Module{}.complete()
		if _, err := p.admit(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		got := make(chan error)
		go func() {
			_, err := p.admit(t.Context(), m)
			got <- err
		}()
		synctest.Wait()
		p.Close()
		if err := <-got; !errors.Is(err, errClosed) {
			t.Errorf("got %v", err)
		}
	})
}

// TestManyCallers has more callers than workers, with nested calls, of several
// capabilities: all of them are served.
func TestManyCallers(t *testing.T) {
	p, m := boundedPool(t, 3, 0), guest(t, "guests/nested")
	ctx, cancel := context.WithTimeout(t.Context(), wasmtests.Slowdown*time.Minute)
	defer cancel()
	var done sync.WaitGroup
	for i := range 12 {
		done.Go(func() {
			for j := range 5 {
				h := &fakeHandler{answer: func(ctx context.Context, _ string, _ []byte) []byte {
					inner := m.named(strconv.Itoa((i + j + 1) % 4))
					result, err := p.invoke(ctx, inner, nil, &fakeHandler{})
					if err != nil {
						t.Error(err)
					}
					return result.output
				}}
				result, err := p.invoke(ctx, m.named(strconv.Itoa((i+j)%4)), nil, h)
				if err != nil || string(result.output) != `{}` {
					t.Errorf("caller %d: %s, %v", i, result.output, err)
				}
			}
		})
	}
	done.Wait()
	if p.room.workers != len(p.idle) || p.room.workers > 3 || busyWorkers(p) != 0 {
		t.Errorf("room %+v, %d idle, busy %d", p.room, len(p.idle), busyWorkers(p))
	}
}

func ExamplePoolOptions() {
	o := PoolOptions{}.withDefaults()
	fmt.Println(o.MaxWorkers, o.MaxBytes>>30, o.CacheBytes>>30)
	// Output: 16 8 2
}
