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

const (
	tries       = 3       // of a request that fails without a word of when to come back
	politeTries = 12      // of one whose answer says when
	worthwhile  = 1 << 20 // bytes of a download that make a broken answer no lost try
)

// retry runs do until it succeeds, fails for good, or has been tried often enough.
func (s *session) retry(ctx context.Context, do func() error) error {
	a := s.attempts()
	for {
		if err := do(); err == nil || !a.again(ctx, err) {
			return err
		}
	}
}

// attempts counts the tries of one request.
type attempts struct {
	session        *session
	failed, polite int
	delay          time.Duration
}

func (s *session) attempts() *attempts {
	a := &attempts{session: s}
	a.progressed()
	return a
}

// progressed forgets failures: the last try led on.
func (a *attempts) progressed() {
	a.failed, a.delay = 0, a.session.client.options.Backoff
	if a.delay <= 0 {
		a.delay = 500 * time.Millisecond
	}
}

// again waits before another try, or reports that there should be none: err is final, the
// tries are used up, or the server wants to be left alone for longer than the caller has.
func (a *attempts) again(ctx context.Context, err error) bool {
	if ctx.Err() != nil || !transient(err) {
		return false
	}
	wait, asked := retryAfter(err)
	if asked {
		a.polite++
	} else {
		a.failed++
	}
	if a.failed >= tries || a.polite >= politeTries || wait > maxRetryAfter {
		return false
	}
	// Part of the wait is random, so that many clients do not come back at once.
	pause := max(wait, a.delay/2) + rand.N(a.delay)
	if end, ok := ctx.Deadline(); ok && asked && time.Until(end) < pause {
		return false // the answer tells more than a timeout would
	}
	if asked && a.session.waited.Add(int64(pause)) > int64(maxWaits) {
		return false
	}
	if asked && wait > 0 {
		a.session.tellWait(err, pause)
	}
	if !asked {
		a.delay *= 3
	}
	return sleep(ctx, pause)
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
	var reset streamError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.As(err, &reset) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// streamError is how HTTP/2 breaks off one answer. net/http keeps its own type to itself
// and fills one of these fields.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "the stream was reset" }
