package runtime

import (
	"context"

	"github.com/aircoding/air/internal/fault"
)

// misbehaved has a capability disabled, and ends each of its calls that is under way, from
// one on upwards.
func (r *Registry) misbehaved(ctx context.Context, from *run, id, reason string, failure *fault.Error) {
	if r.config.Misbehaved != nil {
		r.config.Misbehaved(ctx, id, reason)
	}
	for c := from; c != nil; c = c.call.parent {
		if c.owner().Capability == id {
			c.end(failure)
		}
	}
}

// end has a capability's call fail, whatever it does from now on.
func (c *run) end(err *fault.Error) {
	c.ended.Store(err)
	c.clock.cancel(errEnded)
}
