package oci

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aircoding/air/internal/regular"
)

const (
	connectTimeout = 15 * time.Second
	maxCAFile      = 4 << 20 // bytes
)

var (
	errPlainHTTP    = errors.New("plain http was not asked for")
	errNotEncrypted = errors.New("the registry speaks plain http")
)

// gate is the one way out to the network, for ping, token, manifest and blob alike.
// go-containerregistry falls back to http for localhost and private addresses
// (name.Registry.Scheme); here http has to be asked for.
type gate struct {
	base     http.RoundTripper
	plain    bool   // the user said --plain-http
	registry string // host[:port] that --plain-http is about
	idle     time.Duration
	secrets
}

// sentError marks an error of an attempt that really was made, as opposed to one the
// gate refused: ping tries both schemes and reports both.
type sentError struct{ err error }

func (e *sentError) Error() string { return e.err.Error() }
func (e *sentError) Unwrap() error { return e.err }

func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	plain := g.plain && strings.EqualFold(req.URL.Host, g.registry)
	if req.URL.Scheme == "http" && !plain {
		return nil, errPlainHTTP
	}
	if req.URL.Scheme == "https" && plain {
		return nil, errors.New("https was not asked for")
	}
	g.note(req)
	resp, err := bounded(g.base, req, g.idle)
	var record tls.RecordHeaderError
	if errors.As(err, &record) && string(record.RecordHeader[:]) == "HTTP/" {
		err = errNotEncrypted
	}
	if err != nil {
		return nil, &sentError{err}
	}
	noteRetryAfter(resp, req)
	return resp, nil
}

func newGate(o Options, registry string) (*gate, error) {
	tlsConfig, err := o.tlsConfig()
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: min(connectTimeout, o.idle()), KeepAlive: 30 * time.Second}
	return &gate{plain: o.PlainHTTP, registry: registry, idle: o.idle(), base: &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &idleConn{Conn: c, idle: o.idle()}, nil
		},
		TLSClientConfig:     tlsConfig,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: min(connectTimeout, o.idle()),
		// Below the connection's own limit: net/http would send the request again when
		// a connection it has used before fails under it.
		ResponseHeaderTimeout: o.idle() * 9 / 10,
		ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost:   parallelBlobs,
		// Below the idle limit, so that a kept connection is closed before it fails.
		IdleConnTimeout:        o.idle() / 2,
		MaxResponseHeaderBytes: 256 << 10,
	}}, nil
}

func (o Options) tlsConfig() (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: o.Insecure} //#nosec G402 -- only when the user says --insecure
	if o.CAFile == "" {
		return c, nil
	}
	pem, err := regular.Read(o.CAFile, maxCAFile, true)
	if err != nil {
		return nil, fail(KindInvalid, "check --ca-file", "reading the CA file: %w", err)
	}
	if c.RootCAs, err = x509.SystemCertPool(); err != nil {
		c.RootCAs = x509.NewCertPool()
	}
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fail(KindInvalid, "check --ca-file", "the CA file %s holds no PEM certificate", o.CAFile)
	}
	return c, nil
}

// idleConn fails when nothing moves for too long. A write extends the read's deadline
// too: while a layer goes up the registry has nothing to say.
type idleConn struct {
	net.Conn
	idle time.Duration
}

func (c *idleConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	return n, c.explain(err)
}

func (c *idleConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	return n, c.explain(err)
}

func (c *idleConn) explain(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &stalledError{err}
	}
	return err
}

// stalledError is a net.Error, as net/http expects of a timeout.
type stalledError struct{ err error }

func (e *stalledError) Error() string   { return "the connection stalled" }
func (e *stalledError) Unwrap() error   { return e.err }
func (e *stalledError) Timeout() bool   { return true }
func (e *stalledError) Temporary() bool { return true }
