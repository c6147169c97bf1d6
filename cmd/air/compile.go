package main

import (
	"context"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/runtime/engine"
)

// compileAhead compiles what was just installed, so that its first call does not have to.
// Nothing of the module runs. It is installed all the same when that fails: the reason
// is shown, and shown again by whoever calls it.
func (a *app) compileAhead(ctx context.Context, at place, i capabilities.Installed) {
	bundle, err := capabilities.OpenDir(i.Dir)
	if err != nil {
		a.warn("compiling %s: %v", i.CapabilityID, err)
		return
	}
	a.working("compiling %s", i.CapabilityID)
	err = a.pool(at).Compile(ctx, engine.Module{
		Capability: i.CapabilityID, Tool: i.CapabilityID, Path: bundle.ModulePath(), SHA256: bundle.ModuleSHA256,
		ABI: bundle.Manifest.Entrypoint.ABI,
	})
	if err != nil {
		a.warn("%v", err)
	}
}

// warmUp compiles what was just enabled and runs what its module does before a first
// call. A failure is left to that call.
func (a *app) warmUp(ctx context.Context, l *capabilities.Lifecycle, s capabilities.Status) {
	if len(s.Tools) == 0 {
		return
	}
	tool, err := l.Tool(ctx, s.Tools[0]) // all tools of a capability are in one module
	if err != nil {
		return
	}
	guest, ok := tool.Implementation.(*engine.Guest)
	if !ok {
		return
	}
	a.working("preparing %s", s.ID)
	if err := guest.Warm(ctx); err != nil {
		a.warn("%v", err)
	}
}

// working tells a person at a terminal why nothing happens for a moment.
func (a *app) working(format string, args ...any) {
	if isTerminal(a.stderr) {
		a.note(format, args...)
	}
}
