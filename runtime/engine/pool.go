package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

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
	// limit, what it keeps of a call at most, and 256 MiB for the process. 0 means 8 GiB.
	// One worker is always allowed.
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

// Pool starts workers and keeps some for the next call of the same module by the same
// capability. It is safe for concurrent use.
type Pool struct {
	options        PoolOptions
	cache          *Cache // nil: none
	clock          clock
	spawn          func() (*process, error) // starts a worker that waits to be told what to do
	compileTimeout time.Duration            // of one module's loading

	compiling  chan struct{}  // holds one for each module that is being compiled
	ended      chan struct{}  // closed by Close
	background sync.WaitGroup // what no call waits for

	mu       sync.Mutex
	closed   bool
	idle     []idleWorker // oldest first
	disarm   func() bool  // stops the timer that ends idle workers; nil: none runs
	waiting  []*waiter    // in the order in which they came
	room     room         // that all workers take, idle ones included
	modules  map[workerKey]*moduleState
	backoffs map[version]*backoff
	slots    map[slotKey]chan struct{}
	locks    map[string]chan struct{} // by sha256: held while a module is compiled into the cache
}

// moduleState is what a pool knows of the workers of one key.
type moduleState struct {
	busy     int  // those of calls under way
	called   bool // there was a call: from then on there are spares
	starting int  // spares on their way
	plain    bool // a worker said that the state before a call cannot be kept
}

// NewPool returns a pool that has started nothing yet.
func NewPool(options PoolOptions) *Pool {
	p := &Pool{
		options:        options.withDefaults(),
		clock:          systemClock(),
		spawn:          func() (*process, error) { return startProcess([]string{workerName}) },
		compileTimeout: compileTimeout,
		compiling:      make(chan struct{}, maxCompiling),
		ended:          make(chan struct{}),
		modules:        map[workerKey]*moduleState{},
		backoffs:       map[version]*backoff{},
		slots:          map[slotKey]chan struct{}{},
		locks:          map[string]chan struct{}{},
	}
	if options.CacheDir != "" {
		p.cache = OpenCache(options.CacheDir)
	}
	return p
}

// module returns what is known of the workers of a key. The caller holds p.mu.
func (p *Pool) module(key workerKey) *moduleState {
	if p.modules[key] == nil {
		p.modules[key] = &moduleState{}
	}
	return p.modules[key]
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
		p.retireIdle(0)
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
}

func (p *Pool) isClosed() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *Pool) log(format string, args ...any) {
	if p.options.Log != nil {
		p.options.Log(fmt.Sprintf(format, args...))
	}
}

// Compile sees to it that the module is in the compile cache. Nothing of the module runs.
// Where nothing can be kept, that is left to the first call.
func (p *Pool) Compile(ctx context.Context, m Module) error {
	m, err := m.complete()
	if err != nil {
		return err
	}
	if p.cache == nil {
		return nil
	}
	if _, err := p.find(ctx, m); err != errNoEntry {
		return m.endFault(err)
	}
	if err := p.compileEntry(ctx, m); err != errNoCache {
		return p.loadFault(m, err)
	}
	return nil
}

// Warm compiles the module where that is needed and runs what it does before its first
// call, so that the first call finds all of that done. The limit of a call's time, which
// ctx need not have, is that of this, too.
func (p *Pool) Warm(ctx context.Context, m Module) error {
	m, err := m.complete()
	if err != nil {
		return err
	}
	w, err := p.take(ctx, m)
	if err != nil {
		return err
	}
	p.put(m, w, true)
	return nil
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
	text, err := m.input(input)
	if err != nil {
		return result{}, err
	}
	if err := p.checkBackoff(m); err != nil {
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
	done, reusable, err := w.call(ctx, m.Tool, text, h)
	if err != nil {
		p.failed(m, err)
		return result{}, m.endFault(err)
	}
	p.answered(m)
	return m.result(done)
}

// take returns a worker in which a call of the module can begin.
func (p *Pool) take(ctx context.Context, m Module) (*worker, error) {
	w, err := p.loaded(ctx, m)
	if err != nil {
		p.failed(m, err)
		return nil, p.loadFault(m, err)
	}
	if err := p.freeze(ctx, m, w); err != nil {
		p.put(m, w, false)
		p.failed(m, err)
		return nil, m.endFault(err)
	}
	return w, nil
}

// loaded returns a worker that has loaded the module.
func (p *Pool) loaded(ctx context.Context, m Module) (*worker, error) {
	w, err := p.admit(ctx, m)
	if err == nil && w == nil {
		w, err = p.start(ctx, m)
		if err != nil {
			p.mu.Lock()
			p.unreserve(m)
			p.mu.Unlock()
		}
	}
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.replenish(m)
	p.mu.Unlock()
	return w, nil
}

// put keeps a worker for the next call, or ends it.
func (p *Pool) put(m Module, w *worker, reusable bool) {
	reusable = reusable && !w.hasGrown()
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.module(m.key())
	state.busy--
	state.called = true
	if reusable {
		p.park(m, w)
	} else {
		p.retire(w)
		p.grant()
	}
	p.replenish(m)
}

// growth is how much larger than after loading a worker may be between two calls.
const growth = 64 << 20

// hasGrown looks every few calls: a look costs a tenth of a small call.
func (w *worker) hasGrown() bool {
	return w.calls%32 == 0 && sandbox.ResidentBytes(w.cmd.Process.Pid) > w.fresh+growth
}
