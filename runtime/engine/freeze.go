package engine

import (
	"context"
	"fmt"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/wasmbin"
)

// freeze has a fresh worker do what the module does before its first call, once for all
// calls, and keeps the outcome for other workers. The guest runs here before it has seen
// an input. What goes wrong in it goes wrong in the call, too, and is told there.
func (p *Pool) freeze(ctx context.Context, m Module, w *worker) error {
	if w.frozen || w.calls > 0 || p.startsPlain(m.key()) {
		return nil
	}
	image, err := w.freeze(ctx)
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
		if err := p.cache.freeze(m.SHA256, image); err != nil {
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
	return p.plain[key]
}

func (p *Pool) startPlain(key workerKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plain[key] = true
}

// checkImage looks at an image as at all that comes from a worker in which a guest ran.
func (m Module) checkImage(data []byte) error {
	image, err := wasmbin.DecodeImage(data)
	if err != nil {
		return err
	}
	if !image.Frozen {
		return fmt.Errorf("image is of a module that was not started")
	}
	if need := int64(image.Pages) * hostabi.PageSize; need > m.Limits.MemoryBytes {
		return fmt.Errorf("image has %d bytes of memory, the limit is %d", need, m.Limits.MemoryBytes)
	}
	return nil
}

// freeze returns what the worker says the module's state before a call is.
func (w *worker) freeze(ctx context.Context) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { w.kill(context.Cause(ctx)) })
	image, err := w.handImage()
	if !stop() { // also when the answer came in
		w.kill(context.Cause(ctx))
		return nil, w.ended(context.Cause(ctx))
	}
	if err != nil {
		return nil, w.ended(err)
	}
	return image, nil
}

func (w *worker) handImage() ([]byte, error) {
	if err := w.conn.Send(hostabi.FrameFreeze); err != nil {
		return nil, err
	}
	_, image, err := w.conn.Receive(hostabi.Allowed{hostabi.FrameImage: hostabi.MaxImage})
	return image, err
}
