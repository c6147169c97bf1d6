package network

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime/permission"
)

const (
	maxConnections = 256
	headerTime     = 15 * time.Second
	maxHeader      = 64 << 10
	// stopTime is how long the end of the proxy waits for what it is in the middle of.
	stopTime = 5 * time.Second
)

// noLog takes what programs do wrong, which is theirs to see.
var noLog = log.New(io.Discard, "", 0)

// Proxy lets programs reach the decided hosts: by CONNECT those of https, which have to
// speak TLS then, and by requests with a whole URL those of http. All else it refuses.
type Proxy struct {
	Hosts  *Hosts
	Dialer Dialer
	// Command is shown to whoever is asked about a host that was not decided before.
	Command string

	late      func(e permission.Effect) error
	refused   refusals
	transport *http.Transport
	handling  sync.WaitGroup
}

// Serve answers what connects to the listener until stop is called, or ctx ends. Then no
// connection is open, and stop returns what was refused.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) (stop func() []Refusal) {
	ctx, cancel := context.WithCancel(ctx)
	p.transport = newTransport(p.dialHTTP)
	p.late = func(e permission.Effect) error { // an answer counts also where the connection did not wait for it
		e.Why = "a program asks for it while the command runs: " + text.Head(p.Command, maxTold)
		return p.Hosts.late(ctx, e)
	}
	server := &http.Server{
		Handler:           p,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          noLog,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	limited := newBounded(l, maxConnections)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(limited) // that it was closed
	}()
	closed := context.AfterFunc(ctx, func() { _ = server.Close() })
	return sync.OnceValue(func() []Refusal {
		cancel()
		closed()
		_ = server.Close()
		_ = limited.Close()
		<-served
		p.wait()
		p.transport.CloseIdleConnections()
		return p.refused.list()
	})
}

// wait waits until no request and no tunnel is open.
func (p *Proxy) wait() {
	done := make(chan struct{})
	go func() {
		p.handling.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(stopTime):
	}
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.handling.Add(1)
	defer p.handling.Done()
	switch {
	case r.Method == http.MethodConnect:
		p.connect(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "" && r.URL.User == nil:
		p.forward(w, r)
	default:
		p.refuse(w, http.StatusBadRequest, Refusal{Target: r.URL.Redacted(), Why: "this is a proxy: it takes CONNECT for https, and whole URLs that begin with http:// and have no user name"})
	}
}

// allowed is the effect for a host that a program asks for, if it was decided or is now.
// Otherwise the program has its answer.
func (p *Proxy) allowed(w http.ResponseWriter, scheme, authority string) (permission.Effect, bool) {
	e, err := spelled(scheme, authority)
	if err != nil {
		p.refuse(w, http.StatusForbidden, Refusal{Target: scheme + "://" + authority, Why: err.Error()})
		return e, false
	}
	if have, ok := p.Hosts.find(e); ok {
		return have, true
	}
	if err := p.late(e); err != nil {
		p.fail(w, e, err)
		return e, false
	}
	return e, true
}

// dial connects to a decided host.
func (p *Proxy) dial(ctx context.Context, e permission.Effect) (net.Conn, error) {
	dialer := p.Dialer
	if p.Hosts.decide != nil {
		dialer.Decide = func(_ context.Context, e permission.Effect) error { return p.late(e) }
	}
	conn, err := dialer.Dial(ctx, e)
	if err != nil {
		return nil, err
	}
	return idleConn{conn}, nil
}

// fail tells a program that a decided host was not reached.
func (p *Proxy) fail(w http.ResponseWriter, e permission.Effect, err error) {
	status := http.StatusBadGateway
	if isRefusal(err) {
		status = http.StatusForbidden
	}
	p.refuse(w, status, refusalOf(e, err))
}

// refuse answers with a text, and remembers the host.
func (p *Proxy) refuse(w http.ResponseWriter, status int, refused Refusal) {
	refused.Target = permission.Printable(refused.Target)
	p.refused.note(refused)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Connection", "close")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, refused.text())
}
