package engine

import (
	"errors"
	"time"

	"github.com/aircoding/air/internal/fault"
)

const (
	// maxFailures is how many workers of a capability may die in a row before its calls
	// have to wait.
	maxFailures   = 3
	shortestDelay = time.Second
	longestDelay  = time.Minute
)

// backoff is how long the calls of a capability wait whose last workers died.
type backoff struct {
	failures int // in a row
	delay    time.Duration
	until    time.Time
}

// version is a capability with one module: an update begins anew.
type version struct{ capability, module string }

func (m Module) version() version { return version{m.Capability, m.SHA256} }

// checkBackoff refuses a call of a capability whose workers keep dying. Starting and losing
// a process for each of its calls would take the machine from all others.
func (p *Pool) checkBackoff(m Module) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.backoffs[m.version()]
	if b == nil {
		return nil
	}
	left := b.until.Sub(p.clock.now())
	if left <= 0 {
		return nil
	}
	e := fault.New(fault.Unavailable, "backing_off", "%s: the last %d workers of %s died; the next starts in %v",
		m.Tool, b.failures, m.Capability, left.Round(time.Millisecond)).
		WithHint("try again then; if it goes on, disable the capability and tell its publisher").
		With("retry_after_ms", left.Milliseconds()+1)
	e.Retryable = true
	return e
}

// answered remembers that a worker did not die in a call.
func (p *Pool) answered(m Module) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.backoffs, m.version())
}

// failed remembers how a worker ended that did not answer.
//
// A call that its context ended says nothing: whoever calls chose the deadline, and one
// with a short one must not lock out others. Nor does a worker say anything of the
// capability that could not confine itself, or had too little memory for what it was sent.
func (p *Pool) failed(m Module, err error) {
	var ended *endedError
	if !errors.As(err, &ended) {
		return
	}
	switch ended.cause {
	case causeStopped, causeSetup, causeMemory:
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.backoffs[m.version()]
	if b == nil {
		b = &backoff{}
		p.backoffs[m.version()] = b
	}
	b.count(p.clock.now())
}

// count counts a failure. Those of calls that were under way when the capability began to
// wait make it wait no longer.
func (b *backoff) count(now time.Time) {
	if now.Before(b.until) {
		return
	}
	if b.failures++; b.failures < maxFailures {
		return
	}
	b.delay = min(max(2*b.delay, shortestDelay), longestDelay)
	b.until = now.Add(b.delay)
}
