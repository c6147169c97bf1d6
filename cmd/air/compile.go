package main

import (
	"context"
	"errors"
	"slices"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
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
// call. What goes wrong is said, and ends its calls, too.
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
	err = guest.Warm(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		a.warn("warning: %s was not prepared: %v; its first call does it", s.ID, context.Cause(ctx))
	default:
		a.warn("warning: %s could not be prepared: %v; its calls will end likewise", s.ID, reasonOf(err))
	}
}

// reasonOf is an error without what wraps it, such as the name of the tool that it would
// have been in a call.
func reasonOf(err error) error {
	var reason *fault.Error
	if errors.As(err, &reason) {
		return reason
	}
	return err
}

// compiling tells a person at a terminal that a call has to compile its module first.
func (a *app) compiling(at place, id, sha256 string) {
	if !isTerminal(a.stderr) {
		return
	}
	entries, err := engine.OpenCache(at.home.Path("cache", "wasm")).Entries()
	ready := func(e engine.CacheEntry) bool { return e.Module == sha256 && e.Current }
	if err == nil && !slices.ContainsFunc(entries, ready) {
		a.working("compiling %s", id)
	}
}

// working tells a person at a terminal why nothing happens for a moment.
func (a *app) working(format string, args ...any) {
	if isTerminal(a.stderr) {
		a.note(format, args...)
	}
}
