package network

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"time"

	"github.com/aircoding/air/runtime/permission"
)

const (
	handshakeTime = 15 * time.Second
	// answerTime is how long a host may take until its answer begins.
	answerTime      = 5 * time.Minute
	maxAnswerHeader = 256 << 10
)

// newTransport sends requests over connections that dial makes. It takes no proxy from the
// environment, and keeps nothing open.
func newTransport(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext:            dial,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		TLSHandshakeTimeout:    handshakeTime,
		ResponseHeaderTimeout:  answerTime,
		MaxResponseHeaderBytes: maxAnswerHeader,
	}
}

type effectKey struct{}

// withEffect says which decided host a request is for.
func withEffect(ctx context.Context, e permission.Effect) context.Context {
	return context.WithValue(ctx, effectKey{}, e)
}

// effectFor is the effect of withEffect, if it is for this address.
func effectFor(ctx context.Context, address string) (permission.Effect, error) {
	e, ok := ctx.Value(effectKey{}).(permission.Effect)
	if !ok || hostPort(e.Target) != address {
		return e, errors.New("the request would go to another host than the decided one, " + address)
	}
	return e, nil
}

func (p *Proxy) dialHTTP(ctx context.Context, _, address string) (net.Conn, error) {
	e, err := effectFor(ctx, address)
	if err != nil {
		return nil, err
	}
	return p.dial(ctx, e)
}

// forward sends a request on to a host that was decided with http. What the client wrote as
// Host is not looked at (RFC 9112 section 3.2.2): the host of the URL takes its place.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request) {
	e, ok := p.allowed(w, "http", r.URL.Host)
	if !ok {
		return
	}
	for _, name := range []string{"Upgrade", "Expect", "Http2-Settings"} { // it stays HTTP/1.1, in whole requests
		r.Header.Del(name)
	}
	sender := httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.Host = withoutDefaultPort(e.Target)
			pr.Out.URL.Host = hostPort(e.Target)
			pr.Out.URL.RawQuery = pr.In.URL.RawQuery // as the client wrote it
		},
		Transport:     p.transport,
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, err error) { p.fail(w, e, err) },
		ErrorLog:      noLog,
	}
	sender.ServeHTTP(w, r.WithContext(withEffect(r.Context(), e)))
}

// withoutDefaultPort is the value of the header Host for a target.
func withoutDefaultPort(target string) string {
	host, port, err := net.SplitHostPort(hostPort(target))
	scheme := target[:len(target)-len("://")-len(hostPort(target))]
	if err != nil || port != defaultPorts[scheme] {
		return hostPort(target)
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		return "[" + host + "]"
	}
	return host
}
