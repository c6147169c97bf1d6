package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/sandbox"
)

// PoolOptions say how a Pool works. The zero value compiles without a cache.
type PoolOptions struct {
	// CacheDir is the absolute path of the folder that keeps machine code, with one folder
	// for each module.
	CacheDir string
	// Log is told what went wrong without consequence for a call.
	Log func(message string)
}

// maxIdle is how many loaded workers wait for a next call, in all.
const maxIdle = 4

// growth is how much larger than after loading a worker may be between two calls.
const growth = 64 << 20

// Pool starts workers and keeps a few for the next call of the same module by the same
// capability. It is safe for concurrent use.
type Pool struct {
	options PoolOptions
	starter *starter
	argv    []string
	compile time.Duration // deadline of one module's loading

	mu     sync.Mutex
	closed bool
	idle   []idleWorker // oldest first
	slots  map[string]chan struct{}
}

type idleWorker struct {
	key    workerKey
	worker *worker
}

// workerKey is what two calls must have in common to use the same worker.
type workerKey struct {
	capability, sha256 string
	limits             runtime.Limits
}

// NewPool returns a pool that has started nothing yet.
func NewPool(options PoolOptions) *Pool {
	return &Pool{
		options: options,
		starter: newStarter(),
		argv:    []string{workerName},
		compile: compileDeadline,
		slots:   map[string]chan struct{}{},
	}
}

// Close ends the workers that wait, without waiting for them to be gone, and lets no more
// start. Calls under way end with their contexts.
func (p *Pool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, i := range idle {
		i.worker.release(errRetired)
	}
	p.starter.close()
}

func (p *Pool) log(format string, args ...any) {
	if p.options.Log != nil {
		p.options.Log(fmt.Sprintf(format, args...))
	}
}

// invoke runs one call of a guest. The error of a call that the guest, its worker or
// its limits ended is a *fault.Error; when ctx ended it, the error wraps ctx's cause.
//
// A module that is not in the compile cache is compiled first. That has a deadline of
// its own, and ctx still ends it.
func (p *Pool) invoke(ctx context.Context, m Module, input json.RawMessage, h handler) (result, error) {
	m.Limits = m.Limits.WithDefaults()
	if err := m.Limits.Validate(); err != nil {
		return result{}, fault.New(fault.InvalidInput, "bad_limits", "limits of %s: %w", m.Tool, err)
	}
	text, err := m.invocation(input)
	if err != nil {
		return result{}, err
	}
	release, err := p.slot(ctx, m)
	if err != nil {
		return result{}, err
	}
	defer release()
	w, err := p.take(ctx, m)
	if err != nil {
		return result{}, err
	}
	reusable := false
	defer func() { p.put(m, w, reusable) }() // also when h panics
	done, reusable, err := w.call(ctx, text, h)
	if err != nil {
		return result{}, m.endFault(err)
	}
	return m.result(done)
}

// invocation is the text of one call.
func (m Module) invocation(input json.RawMessage) ([]byte, error) {
	text, err := json.Marshal(invocation{m.Tool, orEmpty(input), orEmpty(m.Config)})
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "bad_json", "input of %s: %w", m.Tool, err)
	}
	if len(text) > maxInvocation {
		return nil, fault.New(fault.InvalidInput, "input_bytes", "input and config of %s have %d bytes, the limit is %d", m.Tool, len(text), maxInvocation)
	}
	return text, nil
}

func orEmpty(object json.RawMessage) json.RawMessage {
	if len(object) == 0 {
		return json.RawMessage(`{}`)
	}
	return object
}

func (m Module) key() workerKey {
	return workerKey{m.Capability, m.SHA256, m.Limits}
}

// take returns an idle worker of the module, or a new one.
func (p *Pool) take(ctx context.Context, m Module) (*worker, error) {
	for {
		w := p.takeIdle(m.key())
		if w == nil {
			return p.start(ctx, m)
		}
		select {
		case <-w.exited:
			w.release(errRetired)
		default:
			return w, nil
		}
	}
}

func (p *Pool) takeIdle(key workerKey) *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if p.idle[i].key == key {
			w := p.idle[i].worker
			p.idle = slices.Delete(p.idle, i, i+1)
			return w
		}
	}
	return nil
}

// put keeps a worker for the next call, or ends it.
func (p *Pool) put(m Module, w *worker, reusable bool) {
	if !reusable || w.hasGrown() || !p.keep(m.key(), w) {
		w.release(errRetired)
	}
}

func (p *Pool) keep(key workerKey, w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.idle = append(p.idle, idleWorker{key, w})
	if len(p.idle) > maxIdle {
		p.idle[0].worker.release(errRetired)
		p.idle = slices.Delete(p.idle, 0, 1)
	}
	return true
}

// hasGrown looks every few calls: a look costs a tenth of a small call.
func (w *worker) hasGrown() bool {
	return w.calls%32 == 0 && sandbox.ResidentBytes(w.cmd.Process.Pid) > w.fresh+growth
}
