package engine

import "context"

// replenish starts another worker of a module in the background, so that there is one
// more than calls under way, and than one. A call after one whose worker was killed then
// waits for nothing. The caller holds p.mu.
func (p *Pool) replenish(m Module) {
	key := m.key()
	starting, called := p.spares[key]
	busy := p.busy[key]
	if p.closed || !called || busy+p.idleOf(key)+starting > max(busy, 1) {
		return
	}
	h := p.health[patient{m.Capability, m.SHA256}]
	if h != nil && p.clock.now().Before(h.until) {
		return
	}
	if len(p.waiting) > 0 || !p.fits(p.room.with(m.need())) {
		return // a spare takes nobody's room
	}
	p.room = p.room.with(m.need())
	p.spares[key]++
	p.background.Go(func() { p.startSpare(m) })
}

func (p *Pool) startSpare(m Module) {
	ctx, cancel := p.untilClosed()
	defer cancel()
	w, err := p.start(ctx, m)
	if err != nil {
		p.judge(m, err)
		p.log("no spare worker for %s: %v", m.Tool, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spares[m.key()]--
	if err != nil {
		p.room = p.room.without(m.need())
		p.grant()
		return
	}
	p.rest(m, w)
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
