package capabilities

import (
	"context"

	"github.com/aircoding/air/runtime"
)

// Single provides the tools of one bundle without any consent, as air run does: every
// effect inside its ceiling asks. Other names go to Next.
type Single struct {
	Bundle            *Bundle
	NewImplementation func(Module) runtime.Implementation
	Next              runtime.Provider // nil: there are no others
}

var _ runtime.Provider = Single{}

// Tool implements runtime.Provider.
func (s Single) Tool(ctx context.Context, name string) (*runtime.Tool, error) {
	if ownerOf(name) == s.Bundle.Manifest.CapabilityID {
		l, err := s.load()
		if err != nil {
			return nil, err
		}
		return l.tool(name)
	}
	if s.Next == nil {
		return nil, runtime.UnknownTool(name)
	}
	return s.Next.Tool(ctx, name)
}

// Tools implements runtime.Provider.
func (s Single) Tools(ctx context.Context) ([]*runtime.Tool, error) {
	l, err := s.load()
	if err != nil {
		return nil, err
	}
	all := l.tools()
	if s.Next == nil {
		return all, nil
	}
	more, err := s.Next.Tools(ctx)
	for _, t := range more {
		if t.Capability != s.Bundle.Manifest.CapabilityID {
			all = append(all, t)
		}
	}
	return all, err
}

// load needs no verifying: the engine runs only what has the hash that was read.
func (s Single) load() (loaded, error) {
	config, err := effectiveConfig(s.Bundle.Manifest, nil)
	return loaded{bundle: s.Bundle, limits: s.Bundle.Manifest.limits(), config: config, make: s.NewImplementation}, err
}
