package engine

import (
	"context"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
)

// freeze has a fresh worker do what the module does before its first call, once for all
// calls, and keeps the outcome for other workers. The guest runs here before it has seen
// an input, and no longer than a call may. What goes wrong in it goes wrong in the call,
// too, and is told there.
func (p *Pool) freeze(ctx context.Context, m Module, w *worker) error {
	if !m.ABI.Prepares() || w.frozen || w.calls > 0 || p.startsPlain(m.key()) {
		return nil
	}
	limit := m.Limits.Timeout()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fault.New(fault.Timeout, "start_timeout", "start or _initialize did not end within %v", limit).
		WithHint("raise limits.timeout_ms in the manifest"))
	defer cancel()
	image, err := w.requestImage(ctx)
	if err != nil {
		return err
	}
	if len(image) == 0 {
		p.startPlain(m.key())
		return nil
	}
	if err := m.checkImage(image); err != nil {
		w.kill(errBreach)
		return &endedError{causeViolation, err}
	}
	w.frozen = true
	if w.cached {
		if err := p.cache.storeFrozen(m.SHA256, image); err != nil {
			p.log("keeping the state of %s before a call: %v", m.Tool, err)
		}
	}
	return nil
}

// startsPlain reports whether a worker said already that the module's state before a call
// cannot be kept.
func (p *Pool) startsPlain(key workerKey) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.module(key).plain
}

func (p *Pool) startPlain(key workerKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.module(key).plain = true
}

// requestImage returns what the worker says the module's state before a call is.
func (w *worker) requestImage(ctx context.Context) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { w.kill(context.Cause(ctx)) })
	image, err := w.receiveImage()
	if !stop() { // also when the answer came in
		w.kill(context.Cause(ctx))
		return nil, w.ended(context.Cause(ctx))
	}
	if err != nil {
		return nil, w.ended(err)
	}
	return image, nil
}

func (w *worker) receiveImage() ([]byte, error) {
	if err := w.conn.Send(hostabi.FrameFreeze); err != nil {
		return nil, err
	}
	_, image, err := w.conn.Receive(hostabi.Allowed{hostabi.FrameImage: hostabi.MaxImage})
	return image, err
}
