package oci

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
)

// Limits of one request to the embedded registry. They leave room for artifacts that
// are no bundles.
const (
	maxBlobBody  = 256 << 20 // bytes
	maxWriters   = 64        // requests that write at one time
	writerIdle   = time.Minute
	blobWithin   = time.Hour        // a client that is slower goes on with a range
	answerWithin = time.Minute      // of what is read and is no blob
	unreadWithin = 10 * time.Second // for a body that nobody reads to end
)

// guard stands before the registry: who may ask, who may write, and how much.
type guard struct {
	registry http.Handler
	loopback bool
	host     string // the address the user configured, without the port
	token    string
	private  bool
	idle     time.Duration // of a request that writes
	writers  chan struct{} // a place for each of those
}

func newGuard(registry http.Handler, addr net.Addr, o ServeOptions) http.Handler {
	g := &guard{
		registry: registry, token: o.Token, private: o.Private,
		idle: cmp.Or(o.Idle, writerIdle), writers: make(chan struct{}, maxWriters),
	}
	if tcp, ok := addr.(*net.TCPAddr); ok {
		g.loopback = tcp.IP.IsLoopback()
	}
	g.host = hostname(o.Addr)
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusForbidden, ociregistry.ErrDenied, "a web page may not write here through its visitor's browser")
	}))
	return g.bounded(origin.Handler(g))
}

// bounded gives every request an end, also those that are refused: before it answers,
// net/http reads what is left of a body. No browser is to show what somebody pushed.
func (g *guard) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
		connection, now, within := http.NewResponseController(w), time.Now(), blobWithin
		if _, kind, _ := splitPath(req.URL.Path); isReading(req) && kind != "blobs" {
			within = answerWithin
		}
		_ = connection.SetWriteDeadline(now.Add(within)) // a test's recorder has none
		if req.ContentLength != 0 {
			_ = connection.SetReadDeadline(now.Add(min(g.idle, unreadWithin)))
		}
		next.ServeHTTP(w, req)
	})
}

func isReading(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead
}

func (g *guard) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch reading := isReading(req); {
	case g.loopback && !g.knownHost(req.Host):
		// A page that rebinds its own name to 127.0.0.1 would otherwise read everything.
		refuse(w, http.StatusForbidden, ociregistry.ErrDenied,
			fmt.Sprintf("host %.100q is not a name of this registry, which answers to loopback addresses only", req.Host))
	case g.token != "" && !g.authorized(req) && (!reading || g.private || isPing(req)):
		// The ping is where clients learn that they may log in.
		w.Header().Set("WWW-Authenticate", `Basic realm="air registry"`)
		refuse(w, http.StatusUnauthorized, ociregistry.ErrUnauthorized, g.needsToken())
	case g.token == "" && !reading && !g.loopback:
		refuse(w, http.StatusForbidden, ociregistry.ErrDenied,
			"this registry is read-only: it listens beyond loopback and was started without a token")
	case reading && req.ContentLength != 0:
		refuse(w, http.StatusBadRequest, ociregistry.ErrUnsupported, "a request that reads has no body")
	case req.ContentLength > bodyLimit(req):
		refuse(w, http.StatusRequestEntityTooLarge, ociregistry.ErrSizeInvalid,
			fmt.Sprintf("the body has %d bytes, the limit is %d", req.ContentLength, bodyLimit(req)))
	case strings.HasSuffix(req.URL.Path, "/manifests/"):
		// ociref.IsValidTag, behind this, panics on an empty tag.
		refuse(w, http.StatusNotFound, ociregistry.ErrManifestUnknown, "the request names no manifest")
	case reading:
		g.registry.ServeHTTP(w, req)
	default:
		g.write(w, req)
	}
}

// write lets a few requests write at a time, and none of them fall asleep over it.
func (g *guard) write(w http.ResponseWriter, req *http.Request) {
	select {
	case g.writers <- struct{}{}:
		defer func() { <-g.writers }()
	default:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, ociregistry.ErrTooManyRequests, "too many clients write at this moment")
		return
	}
	body := http.MaxBytesReader(w, req.Body, bodyLimit(req))
	req.Body = &movingBody{body, http.NewResponseController(w), g.idle}
	g.registry.ServeHTTP(w, req)
}

// movingBody fails when nothing comes for idle. At its end the connection may be silent.
type movingBody struct {
	io.ReadCloser
	connection *http.ResponseController
	idle       time.Duration
}

func (b *movingBody) Read(p []byte) (int, error) {
	now := time.Now()
	_ = b.connection.SetReadDeadline(now.Add(b.idle))
	_ = b.connection.SetWriteDeadline(now.Add(blobWithin))
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

func (g *guard) needsToken() string {
	if g.private {
		return "this registry is private: it needs its token as password"
	}
	return "writing needs this registry's token as password"
}

func (g *guard) knownHost(host string) bool {
	name := strings.ToLower(hostname(host))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || name == strings.ToLower(g.host) {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// hostname strips the port and the brackets of an IPv6 address.
func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func (g *guard) authorized(req *http.Request) bool {
	given, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	if !ok {
		_, given, _ = req.BasicAuth()
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(g.token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

func isPing(req *http.Request) bool { return req.URL.Path == "/v2/" || req.URL.Path == "/v2" }

func bodyLimit(req *http.Request) int64 {
	if _, kind, _ := splitPath(req.URL.Path); kind == "manifests" {
		return MaxManifest
	}
	return maxBlobBody
}

// refuse answers in the form of the distribution spec, so that clients show the reason.
func refuse(w http.ResponseWriter, code int, kind ociregistry.Error, message string) {
	err := ociregistry.NewHTTPError(ociregistry.NewError(message, kind.Code(), nil), code, nil, nil)
	body, _ := ociregistry.MarshalError(err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(body)
}
