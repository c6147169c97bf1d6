package oci

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// enough is how many bytes an answer has to bring within the idle limit, unless it ends.
const enough = 64 << 10

// errTooSlow is a net.Error as a connection that stalled.
var errTooSlow error = &stalledError{errors.New("next to nothing came")}

type limitKey struct{}

// withLimit allows answers of so many bytes; otherwise they have those of a manifest.
func withLimit(ctx context.Context, bytes int64) context.Context {
	return context.WithValue(ctx, limitKey{}, bytes)
}

// body is that of an answer: it ends at a limit, and fails when it comes too slowly, as
// a connection on which something moves all the time does not.
type body struct {
	io.ReadCloser
	ctx    context.Context
	stop   context.CancelCauseFunc
	idle   time.Duration
	left   int64
	waited time.Duration // for the bytes that came since there were enough
	came   int
}

// bounded makes a request whose answer has such a body.
func bounded(base http.RoundTripper, req *http.Request, idle time.Duration) (*http.Response, error) {
	left, ok := req.Context().Value(limitKey{}).(int64)
	if !ok {
		left = MaxManifest + 1
	}
	ctx, stop := context.WithCancelCause(req.Context())
	resp, err := base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		stop(nil)
		return nil, err
	}
	resp.Body = &body{ReadCloser: resp.Body, ctx: ctx, stop: stop, idle: idle, left: left}
	return resp, nil
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.EOF
	}
	started := time.Now()
	timer := time.AfterFunc(b.idle-b.waited, func() { b.stop(errTooSlow) })
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	timer.Stop()
	b.left -= int64(n)
	b.waited += time.Since(started)
	if b.came += n; b.came >= enough {
		b.waited, b.came = 0, 0
	}
	if err != nil && err != io.EOF && errors.Is(context.Cause(b.ctx), errTooSlow) {
		err = errTooSlow
	}
	return n, err
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.stop(nil)
	return err
}
