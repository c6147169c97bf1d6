package runtime

import (
	"context"
	"io"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/redact"
	"github.com/aircoding/air/runtime/permission"
)

// Fetcher sends requests.
type Fetcher interface {
	// Send sends one request to the host of a net effect that was allowed, and reads its
	// answer. It follows no redirect, and takes no proxy from the environment. About a host
	// that has an address which is not public, and was not allowed as such, decide is asked
	// before anything is sent.
	Send(ctx context.Context, host permission.Effect, r HTTPRequest, decide func(ctx context.Context, host permission.Effect) error) (HTTPAnswer, error)
}

// HTTPRequest is one request.
type HTTPRequest struct {
	Method, URL string
	Headers     map[string]string
	Body        io.ReaderAt // nil for none
	Size        int64       // of Body
}

// HTTPAnswer is the answer to one.
type HTTPAnswer struct {
	Status  int
	Headers map[string]string // by name in lower case
	Body    []byte            // without the encoding gzip, if it had it
	// Truncated says that the body goes on after what was kept.
	Truncated bool
	// Encoded says that the body has an encoding that was left in place, so that what it says
	// cannot be looked at.
	Encoded bool
}

// Fetch is a request whose host and secrets were decided.
type Fetch struct {
	HTTPRequest
	Secrets map[string]string // name of a secret by header
	Timeout time.Duration     // of the whole, but for the time that a person takes to answer
}

// maxRedirects is how many are followed.
const maxRedirects = 10

// Fetch sends a request. A redirect to another host is decided anew, and takes neither
// secrets nor the request's own headers there, but for those that say which answer is
// wanted. An answer that repeats a secret of the request is withheld whole.
func (a *Access) Fetch(ctx context.Context, f Fetch) (HTTPAnswer, error) {
	if a.registry.config.Fetcher == nil {
		return HTTPAnswer{}, fault.New(fault.Unavailable, "no_network", "nothing here sends requests")
	}
	host, err := permission.NetTarget(f.URL)
	if err != nil {
		return HTTPAnswer{}, fault.New(fault.InvalidInput, "bad_url", "%w", err)
	}
	if err := a.registry.permits(a.run, a.Commands.decisions, host); err != nil {
		return HTTPAnswer{}, err
	}
	limited, clock := withClock(ctx, f.Timeout)
	defer clock.stop()
	answer, err := a.transfer(limited, f, host)
	if err != nil && clock.ranOut() && ctx.Err() == nil {
		err = fault.New(fault.Timeout, "deadline", "%s did not answer within %v", host.Target, f.Timeout).WithHint("give it more timeout_ms")
	}
	return answer, err
}

func (a *Access) transfer(ctx context.Context, f Fetch, host permission.Effect) (HTTPAnswer, error) {
	t := &transfer{access: a, request: f.HTTPRequest, secrets: f.Secrets}
	for range maxRedirects + 1 {
		answer, err := t.send(ctx, &host)
		if err != nil {
			return HTTPAnswer{}, err
		}
		next := t.redirect(answer)
		if next == "" {
			return answer, nil
		}
		if host, err = t.follow(ctx, host, answer, next); err != nil {
			return HTTPAnswer{}, err
		}
	}
	return HTTPAnswer{}, fault.New(fault.Unavailable, "too_many_redirects", "%.300s led to more than %d redirects", f.URL, maxRedirects)
}

// transfer is one fetch under way.
type transfer struct {
	access  *Access
	request HTTPRequest
	secrets map[string]string
	scan    *redact.Redactor
	values  []string // that scan knows
}

// send sends the request as it is now. A host that turns out to be private is decided
// anew, and stays what it was allowed as.
func (t *transfer) send(ctx context.Context, host *permission.Effect) (HTTPAnswer, error) {
	r, err := t.complete()
	if err != nil {
		return HTTPAnswer{}, err
	}
	answer, err := t.access.registry.config.Fetcher.Send(ctx, *host, r, func(ctx context.Context, private permission.Effect) error {
		err := t.access.Commands.decide(ctx, []permission.Effect{private})
		if err == nil {
			*host = private
		}
		return err
	})
	if err != nil {
		return HTTPAnswer{}, err
	}
	return answer, t.check(answer)
}
