package network

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
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
	// Decide answers for a host that was allowed by its name and turns out to have a private
	// address; nil refuses it.
	Decide func(ctx context.Context, effects []permission.Effect) error

	refused   refusals
	transport *http.Transport
	tunnels   sync.WaitGroup
}

// Serve answers what connects to the listener until stop is called, or ctx ends. Then no
// connection is open, and stop returns what was refused.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) (stop func() []Refusal) {
	ctx, cancel := context.WithCancel(ctx)
	p.transport = newTransport(p.dialHTTP)
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

// wait waits until no tunnel is open.
func (p *Proxy) wait() {
	done := make(chan struct{})
	go func() {
		p.tunnels.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(stopTime):
	}
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		p.connect(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "" && r.URL.User == nil:
		p.forward(w, r)
	default:
		p.refuse(w, http.StatusBadRequest, Refusal{Target: r.URL.Redacted(), Why: "this is a proxy: it takes CONNECT for https, and whole URLs that begin with http:// and have no user name"})
	}
}

// allowed is the decided effect for a host that a program asks for. Where there is none,
// the program has its answer.
func (p *Proxy) allowed(w http.ResponseWriter, scheme, authority string) (permission.Effect, bool) {
	target, err := spelled(scheme, authority)
	if err != nil {
		p.refuse(w, http.StatusForbidden, Refusal{Target: scheme + "://" + authority, Why: err.Error()})
		return permission.Effect{}, false
	}
	e, ok := p.Hosts.find(target)
	if !ok {
		p.refuse(w, http.StatusForbidden, Refusal{target, "it was not decided for this command", "do not work around this; a person allows it with: air permission grant 'net(" + target + ")'"})
	}
	return e, ok
}

// dial connects to a decided host. One that turns out to be private is decided anew.
func (p *Proxy) dial(ctx context.Context, e permission.Effect) (net.Conn, error) {
	conn, err := p.Dialer.Dial(ctx, e)
	var private *runtime.PrivateAddressError
	if errors.As(err, &private) && p.Decide != nil {
		e.Class = permission.ClassPrivate
		if err = p.Decide(ctx, []permission.Effect{e}); err == nil {
			p.Hosts.Add([]permission.Effect{e})
			conn, err = p.Dialer.Dial(ctx, e)
		}
	}
	if err != nil {
		return nil, err
	}
	return idleConn{conn}, nil
}

// fail tells a program that a decided host was not reached.
func (p *Proxy) fail(w http.ResponseWriter, e permission.Effect, err error) {
	refused := Refusal{Target: e.Target, Why: err.Error()}
	status := http.StatusBadGateway
	var private *runtime.PrivateAddressError
	var known *fault.Error
	if errors.As(err, &known) {
		refused.Hint = known.Hint
	}
	if errors.As(err, &private) || fault.Is(err, fault.PermissionDenied) || fault.Is(err, fault.ApprovalRequired) {
		status = http.StatusForbidden
	}
	p.refuse(w, status, refused)
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
