package engine

import (
	"context"
	"errors"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/sandbox"
)

// start returns a new worker that has loaded the module. Machine code that ends a worker
// is thrown away, and the module compiled again.
func (p *Pool) start(ctx context.Context, m Module) (*worker, error) {
	w, folder, err := p.load(ctx, m)
	var ended *endedError
	if folder.published() && errors.As(err, &ended) && (ended.cause == causeCrash || ended.cause == causeMemory) {
		p.log("worker of %s ended while it loaded cached code, which is compiled again: %v", m.Tool, err)
		folder.remove()
		w, _, err = p.load(ctx, m)
	}
	if err != nil {
		return nil, m.loadFault(err)
	}
	return w, nil
}

// load starts a worker and loads the module into it. The module is read and proven while
// the process starts.
func (p *Pool) load(ctx context.Context, m Module) (*worker, cacheFolder, error) {
	process, err := startProcess(p.starter, sandbox.Worker{}, p.argv)
	if err != nil {
		return nil, cacheFolder{}, fault.New(fault.Unavailable, "worker", "starting a worker for %s: %w", m.Tool, err)
	}
	w := &worker{process: process, conn: hostabi.NewConn(process.socket)}
	code, err := m.read()
	if err != nil {
		w.release(errRetired)
		return nil, cacheFolder{}, err
	}
	folder := p.openCache(code.sha256)
	cached, err := w.load(ctx, p.compile, m.loadConfig(folder), code.bytes)
	if err != nil {
		folder.abandon()
		w.release(errRetired)
		return nil, folder, err
	}
	p.settle(folder, cached)
	w.fresh = sandbox.ResidentBytes(process.cmd.Process.Pid)
	return w, folder, nil
}

func (m Module) loadConfig(f cacheFolder) hostabi.LoadConfig {
	l := m.Limits
	return hostabi.LoadConfig{CacheDir: f.dir, MemoryBytes: l.MemoryBytes, Limits: hostabi.Limits{
		OutputBytes: l.OutputBytes, HostCalls: l.HostCalls, LogBytes: l.LogBytes,
	}}
}

// settle keeps what a worker left in its cache folder, if it could.
func (p *Pool) settle(f cacheFolder, cached bool) {
	if !cached {
		f.remove()
		return
	}
	if err := f.publish(); err != nil {
		p.log("keeping compiled code: %v", err)
	}
}
