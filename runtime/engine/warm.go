package engine

import (
	"context"

	"github.com/aircoding/air/internal/fault"
)

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
	if _, err := p.find(m); err == nil {
		return nil
	}
	if err := p.compileEntry(ctx, m); err != errNoCache {
		return m.loadFault(err)
	}
	return nil
}

// Warm compiles the module where that is needed and runs what it does before its first
// call, so that the first call finds all of that done.
func (p *Pool) Warm(ctx context.Context, m Module) error {
	m, err := m.complete()
	if err != nil {
		return err
	}
	w, err := p.take(ctx, m)
	if err != nil {
		return m.loadFault(err)
	}
	reusable := false
	defer func() { p.put(m, w, reusable) }()
	err = p.freeze(ctx, m, w)
	reusable = err == nil
	return m.endFault(err)
}

// complete returns m with its limits filled in.
func (m Module) complete() (Module, error) {
	m.Limits = m.Limits.WithDefaults()
	if err := m.Limits.Validate(); err != nil {
		return m, fault.New(fault.InvalidInput, "bad_limits", "limits of %s: %w", m.Tool, err)
	}
	return m, nil
}
