package engine

import (
	"context"
	"time"
)

// replenish keeps one worker of a module more than calls are under way, and at least two,
// from its first call on: it starts another one in the background. A call after one whose
// worker was killed then waits for nothing. The caller holds p.mu.
func (p *Pool) replenish(m Module) {
	if !p.options.Spare || p.closed {
		return
	}
	state := p.module(m.key())
	if !state.called || state.busy+p.idleOf(m.key())+state.starting > max(state.busy, 1) {
		return
	}
	if b := p.backoffs[m.version()]; b != nil && p.clock.now().Before(b.until) {
		return
	}
	if len(p.waiting) > 0 || !p.fits(p.room.with(m.need())) {
		return // a spare takes nobody's room
	}
	p.room = p.room.with(m.need())
	state.starting++
	p.background.Go(func() { p.startSpare(m) })
}

// spareDelay is how long a spare is not started: loading takes a processor from the call
// that needs one now.
const spareDelay = 50 * time.Millisecond

func (p *Pool) startSpare(m Module) {
	ctx, cancel := p.untilClosed()
	defer cancel()
	select {
	case <-time.After(spareDelay):
	case <-ctx.Done():
	}
	w, err := p.start(ctx, m)
	if err != nil {
		p.failed(m, err)
		p.log("no spare worker for %s: %v", m.Tool, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.module(m.key()).starting--
	if err != nil {
		p.room = p.room.without(m.need())
		p.grant()
		return
	}
	p.park(m, w)
}

// maxIdle is how many workers of a module may wait: more calls cannot be under way at a
// time, but for a spare.
func (p *Pool) maxIdle(m Module) int {
	if p.options.Spare {
		return int(m.Limits.ConcurrentCalls) + 1
	}
	return int(m.Limits.ConcurrentCalls)
}

// untilClosed is the context of work that no call waits for.
func (p *Pool) untilClosed() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		select {
		case <-p.ended:
			cancel(errClosed)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}
