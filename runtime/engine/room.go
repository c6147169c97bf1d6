package engine

import (
	"context"
	"fmt"
	"slices"
)

// room is how many workers there are, idle ones included, and what they may use. A worker
// that was told to end does not count.
type room struct {
	workers int
	bytes   int64
}

func (r room) with(bytes int64) room    { return room{r.workers + 1, r.bytes + bytes} }
func (r room) without(bytes int64) room { return room{r.workers - 1, r.bytes - bytes} }

// fits reports whether the pool's bounds allow r. One worker is always allowed.
func (p *Pool) fits(r room) bool {
	return r.workers <= 1 || r.workers <= p.options.MaxWorkers && r.bytes <= p.options.MaxBytes
}

// waiter is a call that waits for room.
type waiter struct {
	module Module
	// granted gets the call's worker, nil where room was taken for a new one. The channel
	// is closed when the pool is.
	granted chan *worker
}

// admit returns an idle worker of the module, or nil when it has taken room for a new
// one. Calls wait for that in the order in which they came, while ctx lasts. A call inside
// another one never waits, for the outer one holds room that it might be waiting for: it
// goes over the bounds, by no more than the depth of calls for each outer one.
func (p *Pool) admit(ctx context.Context, m Module) (*worker, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errClosed
	}
	isNested := ctx.Value(nestedKey{}) != nil
	if isNested || len(p.waiting) == 0 {
		if w, ok := p.reserve(m, isNested); ok {
			p.mu.Unlock()
			return w, nil
		}
	}
	own := &waiter{m, make(chan *worker, 1)}
	p.waiting = append(p.waiting, own)
	p.mu.Unlock()
	select {
	case w, open := <-own.granted:
		if !open {
			return nil, errClosed
		}
		return w, nil
	case <-ctx.Done():
		p.abandon(own)
		return nil, fmt.Errorf("%s: waiting for one of %d workers: %w", m.Tool, p.options.MaxWorkers, context.Cause(ctx))
	}
}

// abandon takes a call that gave up out of the queue. What it was granted at the same moment
// goes to the next.
func (p *Pool) abandon(own *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.waiting, own); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		p.grant()
		return
	}
	w, open := <-own.granted
	switch {
	case !open:
	case w == nil:
		p.unreserve(own.module)
	default:
		p.module(own.module.key()).busy--
		p.park(own.module, w)
	}
}

// reserve finds an idle worker of the module, or takes room for a new one, for which it ends
// idle ones, the oldest first. The caller holds p.mu.
func (p *Pool) reserve(m Module, evenAbove bool) (*worker, bool) {
	key := m.key()
	if w := p.takeIdle(key); w != nil {
		p.module(key).busy++
		return w, true
	}
	if !evenAbove && !p.fits(p.busyRoom().with(m.need())) {
		return nil, false // not even without the idle ones
	}
	for len(p.idle) > 0 && !p.fits(p.room.with(m.need())) {
		p.retireIdle(0)
	}
	p.room = p.room.with(m.need())
	p.module(key).busy++
	return nil, true
}

// busyRoom is the room that is left taken when all idle workers end.
func (p *Pool) busyRoom() room {
	r := p.room
	for _, i := range p.idle {
		r = r.without(i.worker.need)
	}
	return r
}

// unreserve gives back what reserve took. The caller holds p.mu.
func (p *Pool) unreserve(m Module) {
	p.module(m.key()).busy--
	p.room = p.room.without(m.need())
	p.grant()
}

// grant serves the calls that wait, in order, as far as there is room. The caller holds
// p.mu.
func (p *Pool) grant() {
	for len(p.waiting) > 0 {
		w, ok := p.reserve(p.waiting[0].module, false)
		if !ok {
			return
		}
		p.waiting[0].granted <- w
		p.waiting = slices.Delete(p.waiting, 0, 1)
	}
}
