package network_test

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	hosts "github.com/aircoding/air/runtime/network"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/secret"
)

type object = map[string]any

type answer struct {
	Status     int               `json:"status"`
	Headers    map[string]string `json:"headers"`
	Body       *string           `json:"body"`
	ArtifactID string            `json:"artifact_id"`
	Truncated  bool              `json:"truncated"`
}

// asked is a person who answers yes, and remembers about what.
type asked struct {
	effects []string
	no      string // what a person denies
}

func (a *asked) Approve(_ context.Context, q permission.Question) (permission.Answer, error) {
	for _, d := range q.Asks {
		a.effects = append(a.effects, d.Effect.String())
		if a.no != "" && strings.Contains(d.Effect.Target, a.no) {
			return permission.Answer{Choice: permission.Refuse}, nil
		}
	}
	return permission.Answer{Choice: permission.Once}, nil
}

// site is a server under names that lead to it.
type site struct {
	*httptest.Server
	port string
}

func serve(t *testing.T, secure bool, h http.HandlerFunc) site {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return site{s, port}
}

func local(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// network leads all names to this machine, and trusts the site.
func network(s site) hosts.Fetcher {
	f := hosts.Fetcher{Dialer: hosts.Dialer{Resolve: local}}
	if s.Server != nil && s.Certificate() != nil {
		f.Roots = x509.NewCertPool()
		f.Roots.AddCert(s.Certificate())
	}
	return f
}

func keep(t *testing.T, r *rig.Rig, name, value string) {
	t.Helper()
	if err := secret.Open(r.Home.Path("secrets")).Set(t.Context(), name, value); err != nil {
		t.Fatal(err)
	}
}

func TestFetch(t *testing.T) {
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Method", r.Method)
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		switch r.URL.Path {
		case "/zip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			fmt.Fprint(z, "unzipped")
			z.Close()
		case "/bytes.bin":
			w.Write([]byte{0, 1, 0xff})
		case "/large":
			w.Write([]byte(strings.Repeat("x", 300<<10)))
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			zeros := make([]byte, 1<<20)
			for range 40 {
				z.Write(zeros)
			}
			z.Close()
		case "/missing":
			w.WriteHeader(404)
		default:
			fmt.Fprintf(w, "%s %s %s", r.Host, r.Header.Get("Accept"), body)
		}
	})
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	url := "http://127.0.0.1:" + s.port
	var a answer
	r.Must("network.fetch", object{"url": url + "/x", "headers": object{"Accept": "text/plain"}}, &a)
	if a.Status != 200 || a.Body == nil || *a.Body != "127.0.0.1:"+s.port+" text/plain " || a.Headers["x-method"] != "GET" || a.Headers["set-cookie"] != "a=1\nb=2" || a.Truncated {
		t.Errorf("%+v", a)
	}
	a = answer{}
	if r.Must("network.fetch", object{"url": url, "method": "POST", "body": "given"}, &a); !strings.HasSuffix(*a.Body, " given") {
		t.Errorf("%+v", a)
	}
	a = answer{}
	if r.Must("network.fetch", object{"url": url + "/zip"}, &a); *a.Body != "unzipped" || a.Headers["content-encoding"] != "" {
		t.Errorf("%+v", a)
	}
	a = answer{}
	if r.Must("network.fetch", object{"url": url + "/zip", "method": "HEAD"}, &a); a.Status != 200 || *a.Body != "" || a.Headers["x-method"] != "HEAD" {
		t.Errorf("%+v", a)
	}
	a = answer{}
	if r.Must("network.fetch", object{"url": url + "/missing"}, &a); a.Status != 404 {
		t.Errorf("%+v", a)
	}
	for path, size := range map[string]int64{"/bytes.bin": 3, "/large": 300 << 10, "/bomb": 32 << 20} {
		a = answer{}
		r.Must("network.fetch", object{"url": url + path}, &a)
		record, err := r.Session.Artifacts.Get(t.Context(), a.ArtifactID)
		if err != nil || a.Body != nil || record.Size != size || record.Type != "response" || a.Truncated != (path == "/bomb") {
			t.Errorf("%s: %+v, %+v, %v", path, a, record, err)
		}
		if path == "/bytes.bin" {
			var sent answer
			r.Must("network.fetch", object{"url": url, "method": "PUT", "body_artifact_id": a.ArtifactID}, &sent)
			content, _ := r.Session.Artifacts.Get(t.Context(), sent.ArtifactID)
			stored, _ := os.ReadFile(content.Path)
			if !strings.HasSuffix(string(stored), "\x00\x01\xff") {
				t.Errorf("%q came back", stored)
			}
		}
	}
}

func TestFetchTimeout(t *testing.T) {
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	started := time.Now()
	e := r.Call("network.fetch", object{"url": s.URL, "timeout_ms": 200}).Error
	if e == nil || e.Kind != fault.Timeout || time.Since(started) > 5*time.Second {
		t.Errorf("%v after %v", e, time.Since(started))
	}
}

// N1: a host that was allowed by its name and has a private address is decided anew.
func TestN1NameWithAPrivateAddress(t *testing.T) {
	var reached atomic.Int32
	s := serve(t, false, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	rules := "schema_version: 1\nrules:\n  - allow: net(http://*.example:*)\n"
	url := "http://ok.example:" + s.port
	r := rig.New(t, rig.Options{Rules: rules, Network: network(s)})
	e := r.Call("network.fetch", object{"url": url}).Error
	if e == nil || e.Code != "private_address" || reached.Load() != 0 {
		t.Errorf("%v, reached %d times", e, reached.Load())
	}
	person := &asked{}
	r = rig.New(t, rig.Options{Rules: rules, Network: network(s), Approver: person})
	if r.Must("network.fetch", object{"url": url}, nil); len(person.effects) != 1 || reached.Load() != 1 {
		t.Errorf("asked about %v, reached %d times", person.effects, reached.Load())
	}
}

// N2: a redirect is decided anew, and takes along neither secrets nor what says who asks.
func TestN2Redirects(t *testing.T) {
	var got atomic.Value
	s := serve(t, true, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "https://other.example.com:"+r.URL.Query().Get("port")+"/end", http.StatusTemporaryRedirect)
		case "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		case "/file":
			w.Header().Set("Location", "file:///etc/passwd")
			w.WriteHeader(302)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/same":
			http.Redirect(w, r, "end", http.StatusSeeOther)
		default:
			body, _ := io.ReadAll(r.Body)
			got.Store(fmt.Sprintf("%s %s auth=%q cookie=%q accept=%q body=%q", r.Method, r.Host, r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.Header.Get("Accept"), body))
		}
	})
	input := func(path string) object {
		return object{"url": "https://web.example.com:" + s.port + path, "method": "POST", "body": "b", "headers": object{"Cookie": "c", "Accept": "a"}, "secrets": object{"Authorization": "token"}}
	}
	person := &asked{}
	r := rig.New(t, rig.Options{Network: network(s), Approver: person})
	keep(t, r, "token", "value-of-token")
	for path, want := range map[string]string{
		"/same":                `GET web.example.com:` + s.port + ` auth="value-of-token" cookie="c" accept="a" body=""`,
		"/away?port=" + s.port: `POST other.example.com:` + s.port + ` auth="" cookie="" accept="a" body="b"`,
		"/end":                 `POST web.example.com:` + s.port + ` auth="value-of-token" cookie="c" accept="a" body="b"`,
	} {
		person.effects = nil
		if r.Must("network.fetch", input(path), nil); got.Load() != want {
			t.Errorf("%s: the host got %s, want %s", path, got.Load(), want)
		}
		if strings.HasPrefix(path, "/away") && !slices.ContainsFunc(person.effects, func(e string) bool { return strings.Contains(e, "other.example.com") }) {
			t.Errorf("asked about %v", person.effects)
		}
	}
	for path, code := range map[string]string{"/file": "bad_redirect", "/loop": "too_many_redirects"} {
		if e := r.Call("network.fetch", input(path)).Error; e == nil || e.Code != code {
			t.Errorf("%s: %v", path, e)
		}
	}
	for path, no := range map[string]string{"/metadata": "169.254", "/away?port=" + s.port: "other"} {
		person.no = no
		got.Store("")
		e := r.Call("network.fetch", input(path)).Error
		if e == nil || e.Kind != fault.PermissionDenied || !strings.Contains(e.Message, "redirects to") || got.Load() != "" {
			t.Errorf("%s: %v, %v", path, e, got.Load())
		}
	}
}

// An answer that repeats the secret, in whichever spelling, is withheld whole.
func TestSecretsDoNotComeBack(t *testing.T) {
	const value = "Bearer value/of+token"
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		auth := r.Header.Get("X-Key")
		w.Header().Set("Www-Authenticate", "Bearer")
		switch r.URL.Path {
		case "/body":
			fmt.Fprintf(w, "you sent %s", auth)
		case "/header":
			w.Header().Set("X-Echo", auth)
		case "/base64":
			fmt.Fprint(w, base64.StdEncoding.EncodeToString([]byte("x"+auth+"y")))
		case "/json":
			_ = json.NewEncoder(w).Encode(object{"k": auth})
		case "/zip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			fmt.Fprint(z, auth)
			z.Close()
		case "/encoded":
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "unknown")
		case "/redirect":
			w.Header().Set("Location", "http://127.0.0.1:1/?k="+auth)
			w.WriteHeader(302)
		case "/large":
			fmt.Fprint(w, strings.Repeat("x", 400<<10)+auth)
		case "/token":
			fmt.Fprint(w, strings.TrimPrefix(auth, "Bearer "))
		default:
			fmt.Fprint(w, "fine")
		}
	})
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	keep(t, r, "key", value)
	for _, path := range []string{"/body", "/header", "/base64", "/json", "/zip", "/encoded", "/redirect", "/large", "/token"} {
		envelope := r.Call("network.fetch", object{"url": s.URL + path, "secrets": object{"X-Key": "key"}})
		if envelope.Error == nil || envelope.Error.Code != "answer_withheld" || len(envelope.Output) > 0 || len(envelope.Artifacts) > 0 {
			t.Errorf("%s: %v %s", path, envelope.Error, envelope.Output)
		}
	}
	r.Must("network.fetch", object{"url": s.URL + "/", "secrets": object{"X-Key": "key"}}, nil)
	for _, e := range r.Events("") {
		if strings.Contains(string(e.Payload), value) {
			t.Errorf("%s has the secret: %s", e.Type, e.Payload)
		}
	}
	if e := r.Call("network.fetch", object{"url": s.URL, "secrets": object{"X-Key": "missing"}}).Error; e == nil || e.Code != "unknown_secret" {
		t.Errorf("%v", e)
	}
}

// No proxy is taken from the environment.
func TestNoProxyFromTheEnvironment(t *testing.T) {
	var reached atomic.Int32
	proxy := serve(t, false, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "direct") })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	r := rig.New(t, rig.Options{Approver: rig.Yes, Network: network(s)})
	var a answer
	if r.Must("network.fetch", object{"url": "http://web.example.com:" + s.port}, &a); *a.Body != "direct" || reached.Load() != 0 {
		t.Errorf("%v, the proxy was reached %d times", *a.Body, reached.Load())
	}
}

// N1–N3 from inside a capability.
func TestGuestsNetwork(t *testing.T) {
	var reached atomic.Int32
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://other.example:1/", http.StatusFound)
			return
		}
		reached.Add(1)
		w.Write([]byte{0xff, 0})
	})
	var results []runtime.Envelope
	guest := rig.Guest(func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		for _, url := range []string{
			"http://ok.example:" + s.port, "http://127.0.0.1:" + s.port, "http://elsewhere.example", "http://ok.example@elsewhere.example", "http://ok.example.elsewhere.example",
			"http://[::ffff:127.0.0.1]:" + s.port, "http://0x7f000001:" + s.port,
		} {
			results = append(results, rig.Call(ctx, access, "network.fetch", object{"url": url}))
		}
		return object{}, nil
	})
	rules := "schema_version: 1\nrules:\n  - allow: net(http://*.example:*)\n"
	r := rig.New(t, rig.Options{Rules: rules, Network: network(s), Provider: netGuests{"g": guest}})
	r.Must("g.run", object{}, nil)
	for i, e := range results {
		if e.Error == nil {
			t.Errorf("%d: %s", i, e.Output)
		}
	}
	if reached.Load() != 0 {
		t.Errorf("reached %d times", reached.Load())
	}
	// What is declared, consented to and allowed by a rule that names it is reached.
	results = nil
	allowed := "schema_version: 1\nrules:\n  - allow: net(http://ok.example:" + s.port + ")\n    for: g\n"
	fetching := rig.Guest(func(ctx context.Context, access *runtime.Access, _ json.RawMessage) (any, error) {
		for _, path := range []string{"/x", "/away"} {
			results = append(results, rig.Call(ctx, access, "network.fetch", object{"url": "http://ok.example:" + s.port + path}))
		}
		return object{}, nil
	})
	r = rig.New(t, rig.Options{Rules: allowed, Network: network(s), Provider: netGuests{"g": fetching}})
	r.Must("g.run", object{}, nil)
	if results[0].Error != nil || reached.Load() != 1 {
		t.Errorf("%v, reached %d times", results[0].Error, reached.Load())
	}
	if results[1].Error == nil || !strings.Contains(results[1].Error.Message, "redirects to") {
		t.Errorf("%v", results[1].Error)
	}
}

// netGuests may use the network, within the scope of one host.
type netGuests rig.Guests

func (p netGuests) Tool(ctx context.Context, name string) (*runtime.Tool, error) {
	tool, err := rig.Guests(p).Tool(ctx, name)
	if err == nil {
		tool.Permissions.Network = true
		tool.Owner.Permissions.Network = true
		tool.Owner.Scopes.Network = []string{"http://ok.example:*", "http://127.0.0.1:*"}
		tool.Owner.Scopes.Tools = append(tool.Owner.Scopes.Tools, "network.fetch")
	}
	return tool, err
}

func (p netGuests) Tools(ctx context.Context) ([]*runtime.Tool, error) {
	return rig.Guests(p).Tools(ctx)
}
