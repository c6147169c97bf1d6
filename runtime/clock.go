package runtime

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aircoding/air/internal/fault"
)

// clock is a call's deadline. Unlike a context's own it can be stopped while a person
// is being asked, for this call and all that it is nested in.
type clock struct {
	parent *clock
	limit  time.Duration
	cancel context.CancelCauseFunc
	budget *account // whose remaining time the limit is, nil for the call's own

	mu      sync.Mutex
	left    time.Duration
	running time.Time
	timer   *time.Timer
	pauses  int
	expired bool
}

type clockKey struct{}

// Causes of a context's end: its clock ran out, or its call was ended.
var (
	errDeadline = errors.New("deadline reached")
	errEnded    = errors.New("the call was ended")
)

func withClock(ctx context.Context, limit time.Duration) (context.Context, *clock) {
	parent, _ := ctx.Value(clockKey{}).(*clock)
	c := &clock{parent: parent, limit: limit, left: limit}
	ctx, c.cancel = context.WithCancelCause(context.WithValue(ctx, clockKey{}, c))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run()
	return ctx, c
}

// pauseClock stops the clocks of ctx until the returned function is called.
func pauseClock(ctx context.Context) (resume func()) {
	innermost, _ := ctx.Value(clockKey{}).(*clock)
	for c := innermost; c != nil; c = c.parent {
		c.pause()
	}
	return func() {
		for c := innermost; c != nil; c = c.parent {
			c.unpause()
		}
	}
}

func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses++; c.pauses == 1 {
		c.timer.Stop()
		c.left -= time.Since(c.running)
	}
}

func (c *clock) unpause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses--; c.pauses == 0 {
		c.run()
	}
}

// run lets the time that is left run down. The caller holds c.mu.
func (c *clock) run() {
	c.running = time.Now()
	c.timer = time.AfterFunc(c.left, c.expire)
}

func (c *clock) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses > 0 { // the timer fired while a question was being opened
		return
	}
	c.expired = true
	c.cancel(errDeadline)
}

func (c *clock) stop() {
	c.mu.Lock()
	c.timer.Stop()
	if c.pauses == 0 {
		c.left -= time.Since(c.running)
	}
	c.mu.Unlock()
	c.cancel(nil)
}

// elapsed is how long a stopped clock ran.
func (c *clock) elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit - c.left
}

// explain turns the error of a call whose context has ended, because of that, into a
// cancellation; into a timeout where its clock, or an outer one, ran out.
func (c *clock) explain(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	err = interrupted(ctx, err)
	if !errors.Is(err, errDeadline) && !errors.Is(err, context.Canceled) {
		return err
	}
	for o := c; o != nil; o = o.parent {
		if o.ranOut() && o.budget != nil {
			return o.budget.outOfTime()
		}
		if o.ranOut() {
			return fault.New(fault.Timeout, "deadline", "stopped after %v: %w", o.limit, err).WithHint("raise limits.timeout_ms in the manifest, or --timeout where it was given")
		}
	}
	return err
}

// interrupted gives an error that the end of ctx led to the kind of that. On its way up it
// may have got another one, such as that of a file that could not be read.
func interrupted(ctx context.Context, err error) error {
	ended := fault.From(ctx.Err())
	switch {
	case errors.Is(err, context.Cause(ctx)), errors.Is(err, ctx.Err()):
		return fault.New(ended.Kind, ended.Code, "%w", err)
	case fault.From(err).Kind == fault.Internal:
		return fault.New(ended.Kind, ended.Code, "%w: %w", context.Cause(ctx), err)
	}
	return err
}

func (c *clock) ranOut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.expired
}

// startClock bounds the call by its own limit and by what is left of its budgets.
func (c *run) startClock(ctx context.Context) (_ context.Context, stop func()) {
	limit, budget := c.timeLeft()
	ctx, c.clock = withClock(ctx, limit)
	c.clock.budget = budget
	return ctx, c.clock.stop
}

// timeout is the call's own limit or the caller's, whichever is shorter. A nested
// call's context carries what is left of the outer one besides.
func (c *run) timeout() time.Duration {
	own := c.tool.limits().Timeout()
	if c.call.Timeout > 0 {
		return min(own, c.call.Timeout)
	}
	return own
}
