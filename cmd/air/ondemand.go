package main

import (
	"context"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/runtime"
)

// onDemand opens the project's capabilities when a tool that is not built in is wanted:
// a call of a built-in tool does not wait for it.
type onDemand struct {
	open func() (*capabilities.Lifecycle, error)
}

func (o *onDemand) Tool(ctx context.Context, name string) (*runtime.Tool, error) {
	l, err := o.open()
	if err != nil {
		return nil, err
	}
	return l.Tool(ctx, name)
}

func (o *onDemand) Tools(ctx context.Context) ([]*runtime.Tool, error) {
	l, err := o.open()
	if err != nil {
		return nil, err
	}
	return l.Tools(ctx)
}

func (o *onDemand) disable(ctx context.Context, id, reason string) error {
	l, err := o.open()
	if err != nil {
		return err
	}
	return l.Disable(ctx, id, reason)
}
