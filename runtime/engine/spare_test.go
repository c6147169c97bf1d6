package engine

import (
	"context"
	"errors"
	"testing"
	"time"
)

func sparePool(t *testing.T, workers int) *Pool {
	p := NewPool(PoolOptions{CacheDir: t.TempDir(), Spare: true, MaxWorkers: workers, Log: func(m string) { t.Log(m) }})
	t.Cleanup(p.Close)
	return p
}

// idleWorkers waits for what is started in the background.
func idleWorkers(p *Pool) int {
	p.background.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

func TestSpareWorker(t *testing.T) {
	p, m := sparePool(t, 0), guest(t, "guests/nested")
	m.Limits.ConcurrentCalls = 1
	if _, err := invoke(t, p, m, `{}`); err != nil {
		t.Fatal(err)
	}
	if n := idleWorkers(p); n != 2 {
		t.Fatalf("%d workers after the first call, want its own and a spare one", n)
	}
	inside := 0
	h := &fakeHandler{answer: func(context.Context, string, []byte) []byte {
		inside = idleWorkers(p)
		return []byte(`{}`)
	}}
	if _, err := p.invoke(t.Context(), m, nil, h); err != nil || inside != 1 {
		t.Fatalf("%d spare workers beside a call, %v", inside, err)
	}
	if n := idleWorkers(p); n != 2 || p.room.workers != 2 {
		t.Errorf("%d workers, room %+v", n, p.room)
	}
}

// TestSpareAfterAKill ends a call and has the next one find a worker that is ready.
func TestSpareAfterAKill(t *testing.T) {
	p, m := sparePool(t, 0), guest(t, "guests/nested")
	if _, err := invoke(t, p, m, `{}`); err != nil {
		t.Fatal(err)
	}
	idleWorkers(p)
	ctx, cancel := context.WithCancel(t.Context())
	h := &fakeHandler{answer: func(context.Context, string, []byte) []byte {
		cancel()
		return []byte(`{}`)
	}}
	// Its answer may come in all the same; the worker is lost either way.
	if _, err := p.invoke(ctx, m, nil, h); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	p.mu.Lock()
	if len(p.idle) == 0 {
		t.Error("no spare worker")
	}
	p.mu.Unlock()
	if _, err := invoke(t, p, m, `{}`); err != nil {
		t.Fatal(err)
	}
	if n := idleWorkers(p); n != 2 {
		t.Errorf("%d workers", n)
	}
}

func TestNoSpareWithoutRoom(t *testing.T) {
	p, m := sparePool(t, 1), guest(t, "guests/echo")
	mustInvoke(t, p, m, `{}`)
	if n := idleWorkers(p); n != 1 {
		t.Errorf("%d workers in a pool for one", n)
	}
}

func TestSpareOfAModuleThatDies(t *testing.T) {
	p := NewPool(PoolOptions{Spare: true})
	defer p.Close()
	hand := &handClock{}
	p.clock = hand.clock()
	p.spawn = spawning(subverted, "load fails")
	m := guest(t, "guests/echo")
	for range 2 * maxFailures {
		invoke(t, p, m, `{}`)
		p.background.Wait()
	}
	if h := p.backoffs[m.version()]; h == nil || h.failures < maxFailures {
		t.Errorf("health %+v", h)
	}
}

// TestCloseEndsASpareThatStarts closes a pool while a worker loads in the background.
func TestCloseEndsASpareThatStarts(t *testing.T) {
	p, m := sparePool(t, 0), guest(t, "guests/echo")
	mustInvoke(t, p, m, `{}`)
	began := time.Now()
	p.Close()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if p.room.workers != 0 {
		t.Errorf("room %+v", p.room)
	}
}
