package engine

import (
	"errors"
	"time"

	"github.com/aircoding/air/internal/fault"
)

const (
	// maxDeaths is how many workers of a capability may die in a row before its calls
	// have to wait.
	maxDeaths   = 3
	shortestOff = time.Second
	longestOff  = time.Minute
)

// health is what became of the workers of a capability that started last.
type health struct {
	deaths int // in a row
	off    time.Duration
	until  time.Time
}

// patient is the capability in one version: an update starts with a clean sheet.
type patient struct{ capability, module string }

// checkHealth refuses a call of a capability whose workers keep dying. Starting and losing
// a process for each of its calls would take the machine from all others.
func (p *Pool) checkHealth(m Module) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.health[patient{m.Capability, m.SHA256}]
	if h == nil {
		return nil
	}
	left := h.until.Sub(p.clock.now())
	if left <= 0 {
		return nil
	}
	e := fault.New(fault.Unavailable, "backing_off", "%s: the last %d workers of %s died; the next starts in %v",
		m.Tool, h.deaths, m.Capability, left.Round(time.Millisecond)).
		WithHint("try again then; if it goes on, disable the capability and tell its publisher").
		With("retry_after_ms", left.Milliseconds()+1)
	e.Retryable = true
	return e
}

// judge remembers how the worker of a call ended; err is nil when it answered.
//
// A call that its context ended says nothing: whoever calls chose the deadline, and one
// with a short one must not lock out others. A worker that could not confine itself says
// nothing of the capability either.
func (p *Pool) judge(m Module, err error) {
	var ended *endedError
	if err != nil && (!errors.As(err, &ended) || ended.cause == causeStopped || ended.cause == causeSetup) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := patient{m.Capability, m.SHA256}
	if err == nil {
		delete(p.health, key)
		return
	}
	h := p.health[key]
	if h == nil {
		h = &health{}
		p.health[key] = h
	}
	h.died(p.clock.now())
}

// died counts a death. Those of calls that were under way when the capability began to
// wait make it wait no longer.
func (h *health) died(now time.Time) {
	if now.Before(h.until) {
		return
	}
	if h.deaths++; h.deaths < maxDeaths {
		return
	}
	h.off = min(max(2*h.off, shortestOff), longestOff)
	h.until = now.Add(h.off)
}
