package engine

import (
	"context"
	"errors"
	"os"
)

// maxCompiling is how many modules are compiled at a time: each may take a gibibyte and
// two processors. Compiling waits for nothing else, so that everybody may wait for it.
const maxCompiling = 2

func (p *Pool) compileTurn(ctx context.Context, m Module) (release func(), err error) {
	return acquire(ctx, p.compiling, m.Tool, "a turn to compile")
}

// compileEntry makes the module's cache entry in a worker that never runs the module. It
// returns errNoCache when the entry cannot be kept.
func (p *Pool) compileEntry(ctx context.Context, m Module) error {
	unlock, err := acquire(ctx, p.moduleLock(m.SHA256), m.Tool, "another call that compiles it")
	if err != nil {
		return err
	}
	defer unlock()
	if p.cache.has(m.SHA256) { // by now
		return nil
	}
	module, pages, err := m.read()
	if err != nil {
		return err
	}
	release, err := p.compileTurn(ctx, m)
	if err != nil {
		return err
	}
	defer release()
	dir, err := p.cache.create(m.SHA256)
	if err != nil {
		p.log("no compile cache: %v", err)
		return errNoCache
	}
	defer os.RemoveAll(dir) // it is not there any more when it was published
	if err := p.compileInto(ctx, m, module, dir); err != nil {
		return err
	}
	return p.publish(ctx, m, pages, dir)
}

// moduleLock is held by whoever compiles a module into the cache: others wait for the result.
func (p *Pool) moduleLock(sha256 string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.locks[sha256] == nil {
		p.locks[sha256] = make(chan struct{}, 1)
	}
	return p.locks[sha256]
}

func (p *Pool) compileInto(ctx context.Context, m Module, module []byte, dir string) error {
	w, err := p.newWorker(m)
	if err != nil {
		return err
	}
	config := m.loadConfig(dir)
	config.Compile = true
	err = w.load(ctx, p.compileTimeout, config, module)
	w.release(errRetired)
	<-w.exited // it must not write any more
	var refused *refusedError
	if errors.As(err, &refused) && refused.Cache || isUnconfined(err) {
		p.log("compiling %s without a cache: %v", m.Tool, err)
		return errNoCache
	}
	return err
}

func (p *Pool) publish(ctx context.Context, m Module, pages uint32, dir string) error {
	if err := p.cache.publish(ctx, dir, m.SHA256, pages); err != nil {
		p.log("keeping compiled code: %v", err)
		return errNoCache
	}
	if _, err := p.cache.prune(p.options.CacheBytes, 0, p.clock.now(), m.SHA256); err != nil {
		p.log("making room in the compile cache: %v", err)
	}
	return nil
}
