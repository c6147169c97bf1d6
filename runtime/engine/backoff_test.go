package engine

import (
	"context"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
)

// dyingPool is a pool whose workers crash in a call.
func dyingPool(t *testing.T) (*Pool, *handClock) {
	p := NewPool(PoolOptions{})
	t.Cleanup(p.Close)
	hand := &handClock{}
	p.clock = hand.clock()
	p.spawn = spawning(subverted, "fails")
	return p, hand
}

func TestBackingOff(t *testing.T) {
	p, hand := dyingPool(t)
	m := guest(t, "guests/echo")
	crash := func() {
		t.Helper()
		_, err := invoke(t, p, m, `{}`)
		wantFault(t, err, fault.GuestTrap, "crash")
	}
	refused := func(left time.Duration) {
		t.Helper()
		_, err := invoke(t, p, m, `{}`)
		e := wantFault(t, err, fault.Unavailable, "backing_off")
		if !e.Retryable || e.Details["retry_after_ms"] != left.Milliseconds()+1 {
			t.Errorf("retryable %v, details %v, want %v", e.Retryable, e.Details, left)
		}
	}
	crash()
	crash()
	crash()
	refused(time.Second)
	hand.advance(900 * time.Millisecond)
	refused(100 * time.Millisecond)
	hand.advance(100 * time.Millisecond)
	for _, seconds := range []int{2, 4, 8, 16, 32, 60, 60} {
		wait := time.Duration(seconds) * time.Second
		crash()
		refused(wait)
		hand.advance(wait)
	}
	p.spawn = spawning(workerName)
	mustInvoke(t, p, m, `{}`)
	p.mu.Lock()
	p.retireIdle(0)
	p.mu.Unlock()
	p.spawn = spawning(subverted, "fails")
	crash() // a success: as at the beginning
	crash()
	crash()
	refused(time.Second)
	m.Capability = "another"
	crash()
}

// TestNotBackingOff lists what says nothing about a capability's workers.
func TestNotBackingOff(t *testing.T) {
	t.Run("traps", func(t *testing.T) {
		p, m := newPool(t), guest(t, "guests/trap")
		for range 2 * maxFailures {
			_, err := invoke(t, p, m, `{}`)
			wantFault(t, err, fault.GuestTrap, "trap")
		}
	})
	t.Run("refused memory", func(t *testing.T) {
		p, m := newPool(t), guest(t, "hostile/grow")
		for range 2 * maxFailures {
			_, err := invoke(t, p, m, `{}`)
			wantFault(t, err, fault.ResourceExhausted, "memory")
		}
	})
	t.Run("deadlines", func(t *testing.T) {
		p, m := newPool(t), guest(t, "hostile/loop")
		for range 2 * maxFailures {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			_, err := p.invoke(ctx, m, nil, &fakeHandler{})
			cancel()
			if !fault.Is(fault.From(err), fault.Timeout) {
				t.Fatal(err)
			}
		}
	})
	t.Run("no confinement", func(t *testing.T) {
		p := NewPool(PoolOptions{})
		defer p.Close()
		p.spawn = spawning(subverted, "load cannot confine itself")
		for range 2 * maxFailures {
			_, err := invoke(t, p, guest(t, "guests/echo"), `{}`)
			wantFault(t, err, fault.Unavailable, "worker")
		}
	})
}

// TestDeathsAtTheSameTime counts those of calls that were under way as one.
func TestDeathsAtTheSameTime(t *testing.T) {
	b := &backoff{}
	now := time.Unix(1e9, 0)
	for range 20 {
		b.count(now)
	}
	if b.delay != time.Second {
		t.Errorf("off for %v", b.delay)
	}
}
