package capabilities

import (
	"context"

	"github.com/aircoding/air/runtime"
)

// Single provides the tools of one bundle without any consent, as air run does: every
// effect inside its ceiling asks.
type Single struct {
	Bundle            *Bundle
	NewImplementation func(Module) runtime.Implementation
}

var _ runtime.Provider = Single{}

// Tool implements runtime.Provider.
func (s Single) Tool(_ context.Context, name string) (*runtime.Tool, error) {
	if ownerOf(name) != s.Bundle.Manifest.CapabilityID {
		e := runtime.UnknownTool(name)
		if ownerOf(name) == "" {
			e = e.WithHint("a tool's name is lower-case letters, digits and underscores, in parts joined by dots")
		}
		return nil, e
	}
	l, err := s.load()
	if err != nil {
		return nil, err
	}
	return l.tool(name)
}

// Tools implements runtime.Provider.
func (s Single) Tools(context.Context) ([]*runtime.Tool, error) {
	l, err := s.load()
	if err != nil {
		return nil, err
	}
	return l.tools(), nil
}

// load needs no verifying: the engine runs only what has the hash that was read.
func (s Single) load() (loaded, error) {
	config, err := effectiveConfig(s.Bundle.Manifest, nil)
	return loaded{bundle: s.Bundle, limits: s.Bundle.Manifest.limits(), config: config, make: s.NewImplementation}, err
}
