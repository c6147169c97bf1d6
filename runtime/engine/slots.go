package engine

import (
	"context"
	"fmt"
)

type nestedKey struct{}

// nested marks the context of a call that a guest makes.
func nested(ctx context.Context) context.Context {
	return context.WithValue(ctx, nestedKey{}, true)
}

// slot waits, while ctx lasts, until the capability runs fewer calls than its limit. A
// call inside another one never waits: the outer one holds a slot that it might be
// waiting for. How many of those there are is bounded by the depth of calls.
func (p *Pool) slot(ctx context.Context, m Module) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", m.Tool, context.Cause(ctx))
	}
	slots := p.slotsOf(m)
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	default:
	}
	if ctx.Value(nestedKey{}) != nil {
		return func() {}, nil
	}
	return acquire(ctx, slots, m.Tool, fmt.Sprintf("one of its %d slots", cap(slots)))
}

// slotKey has the limit in it, so that an update that changes it takes effect.
type slotKey struct {
	capability string
	limit      int64
}

func (p *Pool) slotsOf(m Module) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := slotKey{m.Capability, m.Limits.ConcurrentCalls}
	if p.slots[key] == nil {
		p.slots[key] = make(chan struct{}, m.Limits.ConcurrentCalls)
	}
	return p.slots[key]
}
