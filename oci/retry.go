package oci

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

const tries = 3

// retry runs do until it succeeds, fails for good, or has been tried three times.
func (c *Client) retry(ctx context.Context, do func() error) error {
	delay := c.options.Backoff
	if delay <= 0 {
		delay = 500 * time.Millisecond
	}
	for try := 1; ; try++ {
		err := do()
		if err == nil || try == tries || ctx.Err() != nil || !transient(err) {
			return err
		}
		// Half of the wait is random, so that many clients do not come back at once.
		if !sleep(ctx, delay/2+rand.N(delay)) {
			return err
		}
		delay *= 3
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// transient reports whether the same request may well succeed in a moment. A stalled
// connection is not: three idle limits are too long a wait.
func transient(err error) bool {
	var ours *Error
	if errors.As(err, &ours) {
		return false
	}
	var answer *transport.Error
	if errors.As(err, &answer) {
		return answer.StatusCode >= 500 ||
			answer.StatusCode == http.StatusRequestTimeout ||
			answer.StatusCode == http.StatusTooManyRequests
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
