package oci

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"golang.org/x/sync/errgroup"

	"github.com/aircoding/air/internal/text"
)

const (
	parallelBlobs = 4
	maxWarning    = 400 // characters
)

// Options of a Client. The zero value speaks https to verified servers.
type Options struct {
	PlainHTTP bool   // speak http to the registry, and nothing else
	Insecure  bool   // do not verify the server's certificate
	CAFile    string // PEM file of further certificate authorities
	CacheDir  string // downloads lie in CacheDir/sha256; needed for Pull
	// Progress makes the display of one transfer. nil shows nothing.
	Progress func(total int64, title string) Bar
	Log      io.Writer     // warnings, and what continues, a line each; nil drops them
	Idle     time.Duration // how long nothing, or next to nothing, may come; default 30 s
	Backoff  time.Duration // wait before the second try, tripled for each further one; default 500 ms
}

// Bar shows one transfer. Set gets the bytes done so far, which a second try may begin anew.
type Bar interface {
	Set(done int64)
	Close()
}

func (o Options) idle() time.Duration {
	if o.Idle > 0 {
		return o.Idle
	}
	return 30 * time.Second
}

// Client moves bundles between this machine and registries. It is safe for
// concurrent use.
type Client struct{ options Options }

// NewClient returns a client. It does nothing yet.
func NewClient(o Options) *Client { return &Client{options: o} }

func (c *Client) warn(format string, args ...any) { c.say("warning: "+format, args...) }

func (c *Client) say(format string, args ...any) {
	if c.options.Log != nil {
		fmt.Fprintln(c.options.Log, text.Line(fmt.Sprintf(format, args...), maxWarning))
	}
}

func (c *Client) bar(total int64, title string) Bar {
	if c.options.Progress == nil {
		return noBar{}
	}
	return c.options.Progress(total, title)
}

type noBar struct{}

func (noBar) Set(int64) {}
func (noBar) Close()    {}

// session is an authenticated way to one repository.
type session struct {
	client *Client
	ref    Reference
	repo   name.Repository
	gate   *gate
	auth   http.RoundTripper
	http   *http.Client
	waited atomic.Int64 // nanoseconds, because answers asked for it
}

// open finds out how the registry wants to be spoken to. action is
// transport.PullScope or transport.PushScope.
func (c *Client) open(ctx context.Context, ref Reference, action string) (*session, error) {
	s, err := c.session(ref)
	if err != nil {
		return nil, err
	}
	if err := s.authenticate(ctx, c.credentials(ctx, s.repo), s.repo.Scope(action)); err != nil {
		s.close()
		return nil, err
	}
	s.http = &http.Client{Transport: s.auth}
	return s, nil
}

// session is not authenticated yet.
func (c *Client) session(ref Reference) (*session, error) {
	repo, err := ref.repository(c.options.PlainHTTP)
	if err != nil {
		return nil, err
	}
	gate, err := newGate(c.options, ref.Registry)
	if err != nil {
		return nil, err
	}
	return &session{client: c, ref: ref, repo: repo, gate: gate}, nil
}

func (s *session) authenticate(ctx context.Context, auth authn.Authenticator, scopes ...string) error {
	err := s.retry(ctx, func() (err error) {
		s.auth, err = transport.NewWithContext(ctx, s.repo.Registry, auth, s.gate, scopes)
		return err
	})
	return s.explainPing(ctx, err)
}

func (s *session) close() {
	if t, ok := s.gate.base.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// together runs do for each index below n, a few at a time; the first error stops
// the rest.
func together(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelBlobs)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}
