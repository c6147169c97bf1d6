package oci

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

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
	Log      io.Writer     // warnings, a line each; nil drops them
	Idle     time.Duration // how long nothing may move on a connection; default 30 s
	Backoff  time.Duration // wait before the second try, tripled for each further one; default 500 ms
}

// Bar shows one transfer. Set gets the bytes done so far; a second try starts anew.
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

func (c *Client) warn(format string, args ...any) {
	if c.options.Log != nil {
		fmt.Fprintf(c.options.Log, "warning: %s\n", text.Line(fmt.Sprintf(format, args...), maxWarning))
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
}

// open finds out how the registry wants to be spoken to. action is
// transport.PullScope or transport.PushScope.
func (c *Client) open(ctx context.Context, ref Reference, action string) (*session, error) {
	repo, err := ref.repository(c.options.PlainHTTP)
	if err != nil {
		return nil, err
	}
	gate, err := newGate(c.options, ref.Registry)
	if err != nil {
		return nil, err
	}
	s := &session{client: c, ref: ref, repo: repo, gate: gate}
	auth := c.credentials(ctx, repo)
	err = c.retry(ctx, func() error {
		s.auth, err = transport.NewWithContext(ctx, repo.Registry, auth, gate, []string{repo.Scope(action)})
		return err
	})
	if err != nil {
		s.close()
		return nil, s.explainPing(ctx, err)
	}
	s.http = &http.Client{Transport: s.auth}
	return s, nil
}

func (s *session) close() {
	if t, ok := s.gate.base.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// get asks for one object of the repository and returns an answer that is a 200.
func (s *session) get(ctx context.Context, kind, identifier, accept string) (*http.Response, error) {
	header := http.Header{}
	if accept != "" {
		header.Set("Accept", accept)
	}
	return s.ask(ctx, kind, identifier, header, http.StatusOK)
}

// ask is get with a header, and with the codes of the answers that are wanted.
func (s *session) ask(ctx context.Context, kind, identifier string, header http.Header, codes ...int) (*http.Response, error) {
	url := fmt.Sprintf("%s://%s/v2/%s/%s/%s", s.repo.Scheme(), s.ref.Registry, s.ref.Repository, kind, identifier)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header = header
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, err
	}
	if err := transport.CheckError(resp, codes...); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
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
