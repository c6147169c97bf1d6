// Package stoppable has a long read end with its context.
package stoppable

import (
	"context"
	"io"
)

// Reader reads from r until ctx ends, and then fails with its cause.
func Reader(ctx context.Context, r io.Reader) io.Reader { return reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}
