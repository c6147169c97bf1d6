package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/sandbox"
)

// start returns a new worker that has loaded the module.
func (p *Pool) start(ctx context.Context, m Module) (*worker, error) {
	w, err := p.startCached(ctx, m)
	if err == errNoCache {
		w, err = p.startUncached(ctx, m)
	}
	if err != nil {
		return nil, err
	}
	w.need = m.need()
	w.fresh = sandbox.ResidentBytes(w.cmd.Process.Pid)
	return w, nil
}

// errNoCache is a cache that is of no use now: there is none, it cannot be written, or no
// worker can confine itself to it.
var errNoCache = errors.New("no compile cache")

// startCached returns a worker that has loaded the module's cache entry, which is made
// where there is none.
func (p *Pool) startCached(ctx context.Context, m Module) (*worker, error) {
	if p.cache == nil {
		return nil, errNoCache
	}
	w, err := p.loadEntry(ctx, m)
	if err != errNoEntry {
		return w, err
	}
	if err := p.compileEntry(ctx, m); err != nil {
		return nil, err
	}
	w, err = p.loadEntry(ctx, m)
	if err == errNoEntry { // gone again, or of no use: another attempt would end likewise
		return nil, errNoCache
	}
	return w, err
}

// loadEntry returns a worker that has loaded the module's cache entry, or errNoEntry. An
// entry that a worker cannot load is removed: damage that no checksum shows. The module
// itself is not looked at: the entry was made of the bytes whose sha256 it has as a name.
func (p *Pool) loadEntry(ctx context.Context, m Module) (*worker, error) {
	if !p.cache.has(m.SHA256) {
		return nil, errNoEntry
	}
	w, err := p.newWorker(m) // the entry is read while the process starts
	if err != nil {
		return nil, err
	}
	e, err := p.find(ctx, m)
	if err == nil {
		err = m.checkMemory(e.pages)
	}
	if err == nil {
		w.cached = true
		err = w.load(ctx, p.compileTimeout, m.loadConfig(e.dir), nil)
	}
	if err == nil {
		return w, nil
	}
	w.release(errRetired)
	if err == errNoEntry || ctx.Err() != nil {
		return nil, err
	}
	if isUseless(err) || !p.cache.has(m.SHA256) { // or somebody removed it meanwhile
		p.log("the compile cache's entry of %s is of no use and will be made again: %v", m.Tool, err)
		if err := p.cache.remove(e.dir); err != nil {
			p.log("%v", err)
		}
		return nil, errNoEntry
	}
	if isUnconfined(err) {
		p.log("loading %s without the compile cache: %v", m.Tool, err)
		return nil, errNoCache
	}
	return nil, err
}

// isUnconfined tells that a worker could not confine itself. Where it was to reach the
// cache, that may be the cache's fault: another process may have removed the folder.
func isUnconfined(err error) bool {
	var ended *endedError
	return errors.As(err, &ended) && ended.cause == causeSetup
}

// isUseless tells whether it is the entry that keeps a worker from loading, and not the
// context or the system: no guest runs meanwhile.
func isUseless(err error) bool {
	var refused *refusedError
	var ended *endedError
	return errors.As(err, &refused) && refused.Cache ||
		errors.As(err, &ended) && ended.cause != causeStopped && ended.cause != causeSetup && ended.cause != causeCompile
}

// find returns the module's cache entry or errNoEntry; that ctx ended is an *endedError.
func (p *Pool) find(ctx context.Context, m Module) (entry, error) {
	e, err := p.cache.find(ctx, m.SHA256)
	if ctx.Err() != nil {
		return entry{}, &endedError{causeStopped, context.Cause(ctx)}
	}
	var damaged *damagedError
	if errors.As(err, &damaged) {
		p.log("the compile cache's entry of %s is damaged and will be made again: %v", m.Tool, damaged.reason)
	}
	if err != nil {
		return entry{}, errNoEntry
	}
	if err := e.checkFrozen(); err != nil {
		p.log("the state of %s before a call is damaged and will be made again: %v", m.Tool, err)
	}
	return e, nil
}

// startUncached returns a worker that has compiled the module in memory.
func (p *Pool) startUncached(ctx context.Context, m Module) (*worker, error) {
	module, _, err := m.read()
	if err != nil {
		return nil, err
	}
	release, err := p.compileTurn(ctx, m)
	if err != nil {
		return nil, err
	}
	defer release()
	w, err := p.newWorker(m)
	if err != nil {
		return nil, err
	}
	if err := w.load(ctx, p.compileTimeout, m.loadConfig(""), module); err != nil {
		w.release(errRetired)
		return nil, err
	}
	return w, nil
}

// newWorker starts a process that will be told what to do.
func (p *Pool) newWorker(m Module) (*worker, error) {
	if p.isClosed() {
		return nil, errClosed
	}
	process, err := p.spawn()
	if err != nil {
		return nil, fault.New(fault.Unavailable, "worker", "starting a worker for %s: %w", m.Tool, err)
	}
	return &worker{process: process, conn: hostabi.NewConn(process.socket)}, nil
}

// acquire waits for a place in a channel while ctx lasts. An error says which tool waited
// for what.
func acquire(ctx context.Context, places chan struct{}, tool, what string) (release func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: waiting for %s: %w", tool, what, context.Cause(ctx))
	}
}
