package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/sandbox"
)

// PoolOptions say how a Pool works. The zero value compiles without a cache.
type PoolOptions struct {
	// CacheDir is the absolute path of the compile cache's folder.
	CacheDir string
	// CacheBytes is what the cache may hold after a module was added: the modules unused
	// for longest go. 0 means 2 GiB.
	CacheBytes int64
	// MaxWorkers is how many workers there may be at a time, those included that wait for
	// a next call. 0 means 16. At most two more compile.
	MaxWorkers int
	// MaxBytes is what these may use together, where each counts with its guest's memory
	// limit and 256 MiB for the process. 0 means 8 GiB. One worker is always allowed.
	MaxBytes int64
	// Spare keeps one more worker of a module ready than are in use, from its first call
	// on.
	Spare bool
	// Log is told what went wrong without consequence for a call.
	Log func(message string)
}

func (o PoolOptions) withDefaults() PoolOptions {
	if o.CacheBytes == 0 {
		o.CacheBytes = 2 << 30
	}
	if o.MaxWorkers == 0 {
		o.MaxWorkers = 16
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 8 << 30
	}
	return o
}

var errClosed = errors.New("the pool is closed")

// growth is how much larger than after loading a worker may be between two calls.
const growth = 64 << 20

// Pool starts workers and keeps some for the next call of the same module by the same
// capability. It is safe for concurrent use.
type Pool struct {
	options PoolOptions
	cache   *Cache // nil: none
	clock   clock
	starter *sandbox.Starter
	argv    []string
	started func(*process) // is told of each process, where it is set
	compile time.Duration  // deadline of one module's loading

	compiling  chan struct{}  // holds one for each module that is being compiled
	ended      chan struct{}  // closed by Close
	background sync.WaitGroup // what no call waits for

	mu      sync.Mutex
	closed  bool
	idle    []idleWorker // oldest first
	disarm  func() bool  // stops the timer that ends idle workers; nil: none runs
	waiting []*waiter    // in the order in which they came
	room    room         // that all workers take, idle ones included
	busy    map[workerKey]int
	spares  map[workerKey]int // those being started, for each module that was called
	plain   map[workerKey]bool
	health  map[patient]*health
	slots   map[string]chan struct{}
	modules map[string]chan struct{} // held while a module is compiled into the cache
}

// workerKey is what two calls must have in common to use the same worker.
type workerKey struct {
	capability, sha256 string
	limits             runtime.Limits
}

// NewPool returns a pool that has started nothing yet.
func NewPool(options PoolOptions) *Pool {
	p := &Pool{
		options:   options.withDefaults(),
		clock:     systemClock(),
		starter:   &sandbox.Starter{Bounded: true},
		argv:      []string{workerName},
		compile:   compileDeadline,
		compiling: make(chan struct{}, maxCompiling),
		ended:     make(chan struct{}),
		busy:      map[workerKey]int{},
		spares:    map[workerKey]int{},
		plain:     map[workerKey]bool{},
		health:    map[patient]*health{},
		slots:     map[string]chan struct{}{},
		modules:   map[string]chan struct{}{},
	}
	if options.CacheDir != "" {
		p.cache = OpenCache(options.CacheDir)
	}
	return p
}

// Close ends the workers that wait, without waiting for them to be gone, and lets no more
// start. Calls under way end with their contexts.
func (p *Pool) Close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	close(p.ended)
	for len(p.idle) > 0 {
		p.endIdle(0)
	}
	if p.disarm != nil {
		p.disarm()
	}
	for _, w := range p.waiting {
		close(w.granted)
	}
	p.waiting = nil
	p.mu.Unlock()
	p.background.Wait()
	p.starter.Close()
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
	m, err := m.complete()
	if err != nil {
		return result{}, err
	}
	text, err := m.invocation(input)
	if err != nil {
		return result{}, err
	}
	if err := p.checkHealth(m); err != nil {
		return result{}, err
	}
	release, err := p.slot(ctx, m)
	if err != nil {
		return result{}, err
	}
	defer release()
	w, err := p.take(ctx, m)
	if err != nil {
		p.judge(m, err)
		return result{}, m.loadFault(err)
	}
	reusable := false
	defer func() { p.put(m, w, reusable) }() // also when h panics
	if err := p.freeze(ctx, m, w); err != nil {
		p.judge(m, err)
		return result{}, m.endFault(err)
	}
	done, reusable, err := w.call(ctx, text, h)
	p.judge(m, err)
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

// take returns a worker that has loaded the module and waits for a call.
func (p *Pool) take(ctx context.Context, m Module) (*worker, error) {
	w, err := p.admit(ctx, m)
	if err == nil && w == nil {
		w, err = p.start(ctx, m)
		if err != nil {
			p.mu.Lock()
			p.freeRoom(m)
			p.mu.Unlock()
		}
	}
	if err != nil {
		return nil, err
	}
	if p.options.Spare {
		p.mu.Lock()
		p.replenish(m)
		p.mu.Unlock()
	}
	return w, nil
}

// put keeps a worker for the next call, or ends it.
func (p *Pool) put(m Module, w *worker, reusable bool) {
	reusable = reusable && !w.hasGrown()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done(m.key())
	if reusable {
		p.rest(m, w)
	} else {
		p.end(w)
		p.grant()
	}
	if p.options.Spare {
		p.spares[m.key()] += 0 // called: from now on there are spares
		p.replenish(m)
	}
}

// hasGrown looks every few calls: a look costs a tenth of a small call.
func (w *worker) hasGrown() bool {
	return w.calls%32 == 0 && sandbox.ResidentBytes(w.cmd.Process.Pid) > w.fresh+growth
}
