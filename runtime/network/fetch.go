package network

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

// maxBody is how much of an answer is kept, after its encoding was undone.
const maxBody = 32 << 20

// Fetcher sends requests to decided hosts.
type Fetcher struct {
	Dialer Dialer
	Roots  *x509.CertPool // that vouch for hosts; nil: the machine's
}

var _ runtime.Fetcher = Fetcher{}

// Send implements runtime.Fetcher.
func (f Fetcher) Send(ctx context.Context, host permission.Effect, r runtime.HTTPRequest, decide func(context.Context, permission.Effect) error) (runtime.HTTPAnswer, error) {
	request, err := newRequest(ctx, host, r)
	if err != nil {
		return runtime.HTTPAnswer{}, err
	}
	conn, err := Dialer{Resolve: f.Dialer.Resolve, Decide: decide}.Dial(ctx, host)
	if err != nil {
		return runtime.HTTPAnswer{}, sendFault(ctx, host, err)
	}
	defer closeConn(conn)
	transport := newTransport(func(context.Context, string, string) (net.Conn, error) { return idleConn{conn}, nil })
	transport.TLSClientConfig = &tls.Config{RootCAs: f.Roots, MinVersion: tls.VersionTLS12}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return runtime.HTTPAnswer{}, sendFault(ctx, host, err)
	}
	defer response.Body.Close()
	answer, err := readAnswer(response)
	if err != nil {
		return runtime.HTTPAnswer{}, sendFault(ctx, host, err)
	}
	return answer, nil
}

// newRequest is the request to the decided host, whose spelling it takes.
func newRequest(ctx context.Context, host permission.Effect, r runtime.HTTPRequest) (*http.Request, error) {
	plain, err := permission.NetTarget(r.URL)
	if err != nil || plain.Target != host.Target {
		return nil, fault.New(fault.Internal, "bug", "the request to %.200q is not for the decided host %s", r.URL, host.Target)
	}
	var body io.Reader
	if r.Body != nil {
		body = io.NewSectionReader(r.Body, 0, r.Size)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, body)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "bad_url", "%w", err)
	}
	request.URL.Host, request.Host = hostPort(host.Target), withoutDefaultPort(host.Target)
	request.ContentLength = r.Size
	if r.Body != nil && r.Size == 0 {
		request.Body = http.NoBody
	}
	request.Header.Set("User-Agent", "air")
	request.Header.Set("Accept-Encoding", "gzip")
	for name, value := range r.Headers {
		request.Header.Set(name, value)
	}
	return request, nil
}

func readAnswer(response *http.Response) (runtime.HTTPAnswer, error) {
	answer := runtime.HTTPAnswer{Status: response.StatusCode, Headers: map[string]string{}}
	encoding := strings.ToLower(response.Header.Get("Content-Encoding"))
	body := io.Reader(response.Body)
	switch encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		body = &unzipped{from: response.Body}
		response.Header.Del("Content-Encoding")
		response.Header.Del("Content-Length")
	default:
		answer.Encoded = true
	}
	for name, values := range response.Header {
		separator := ", "
		if name == "Set-Cookie" { // the one that no comma joins: RFC 9110 section 5.3
			separator = "\n"
		}
		answer.Headers[strings.ToLower(name)] = strings.Join(values, separator)
	}
	var kept bytes.Buffer
	n, err := kept.ReadFrom(io.LimitReader(body, maxBody+1))
	answer.Truncated = n > maxBody
	answer.Body = kept.Bytes()[:min(n, maxBody)]
	return answer, err
}

// unzipped undoes gzip once there is something to read: an answer to HEAD has nothing.
type unzipped struct {
	from io.Reader
	zip  *gzip.Reader
}

func (u *unzipped) Read(p []byte) (n int, err error) {
	if u.zip == nil {
		if u.zip, err = gzip.NewReader(u.from); err != nil {
			return 0, err
		}
	}
	return u.zip.Read(p)
}

// sendFault gives what the transport reports its kind. What was decided here on the way,
// such as that an address is private, stays what it is.
func sendFault(ctx context.Context, host permission.Effect, err error) error {
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return fault.New(fault.Unavailable, "bad_certificate", "%s does not show a certificate that this machine trusts: %w", host.Target, err)
	}
	return retryable(fault.New(fault.Unavailable, "no_answer", "%s: %w", host.Target, err))
}
