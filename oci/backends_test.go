package oci

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// proxied is a server whose answers come from a registry of any kind, unless a test
// breaks them.
func proxied(t *testing.T, registry http.Handler) *server {
	t.Helper()
	s := &server{registry: registry}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = discardLog()
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// everyRegistry runs f against every kind of registry, each behind a fault proxy.
func everyRegistry(t *testing.T, f func(t *testing.T, s *server)) {
	t.Helper()
	t.Run("native referrers", func(t *testing.T) { f(t, newServer(t)) })
	t.Run("no referrers", func(t *testing.T) { f(t, proxied(t, registry.New(registry.Logger(discardLog())))) })
	t.Run("ours on disk", func(t *testing.T) {
		host := serveTest(t, ServeOptions{Dir: t.TempDir()})
		f(t, proxied(t, forward(&url.URL{Scheme: "http", Host: host}, false)))
	})
	t.Run("distribution", func(t *testing.T) {
		d := startDistribution(t)
		s := proxied(t, forward(&url.URL{Scheme: "https", Host: d.host}, true))
		login(t, s.host(), "tester", "secret")
		f(t, s)
	})
}

// forward passes requests on. Most registries want their own name, and one that says
// where an upload goes on wants the name that the client knows.
func forward(to *url.URL, keepHost bool) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			if keepHost {
				r.Out.Host = r.In.Host
			}
		},
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableCompression: true}, //#nosec G402 -- the test's own
		ErrorLog:  discardLog(),
	}
}

// distribution is the registry of the CNCF, with TLS and one account.
type distribution struct{ host, caFile string }

// The password is "secret", hashed at the lowest cost.
const htpasswd = "tester:$2a$04$zH05OmiP9vij.o9yrJlYJeEyBxsoDGyhiNZ..s9.aYcDmI.dqp5J."

func startDistribution(t *testing.T) distribution {
	t.Helper()
	program, dir := tool(t, "registry"), t.TempDir()
	certificate, key := certificateFiles(t, dir)
	config := fmt.Sprintf(`
version: 0.1
storage: {filesystem: {rootdirectory: %q}, delete: {enabled: true}}
http: {addr: "127.0.0.1:0", relativeurls: true, tls: {certificate: %q, key: %q}}
auth: {htpasswd: {realm: test, path: %q}}
`, filepath.Join(dir, "data"), certificate, key, write(t, dir, "htpasswd", htpasswd+"\n"))
	cmd := exec.CommandContext(t.Context(), program, "serve", write(t, dir, "config.yml", config))
	cmd.Env = append(os.Environ(), "OTEL_TRACES_EXPORTER=none")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return distribution{host: listening(t, log), caFile: certificate}
}

// listening reads a registry's log until it says where it listens, and then on.
func listening(t *testing.T, log io.Reader) string {
	t.Helper()
	address := regexp.MustCompile(`listening on (127\.0\.0\.1:[0-9]+)`)
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			if m := address.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
		}
	}()
	select {
	case host := <-found:
		return host
	case <-time.After(20 * time.Second):
		t.Fatal("the registry does not say where it listens")
		return ""
	}
}

// certificateFiles writes the certificate of net/http/httptest, which is for 127.0.0.1.
func certificateFiles(t *testing.T, dir string) (certificate, key string) {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	private, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate = write(t, dir, "certificate.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	return certificate, write(t, dir, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDistributionWithTLSAndPassword(t *testing.T) {
	d := startDistribution(t)
	ref := d.host + "/team/tools/hello:1"
	anonymous := newClient(t, Options{CAFile: d.caFile})
	_, err := anonymous.Push(context.Background(), ref, big(), PushOptions{})
	wantError(t, err, KindUnauthorized, "log in")
	login(t, d.host, "tester", "secret")
	c := newClient(t, Options{CAFile: d.caFile})
	p := mustPush(t, c, ref, big())
	if again := mustPush(t, c, ref, big()); !again.Existed {
		t.Error("second push was no no-op")
	}
	for _, ref := range []string{ref, p.Reference} {
		got, err := c.Pull(context.Background(), ref)
		if err != nil {
			t.Fatal(err)
		}
		wantBundle(t, got, big())
	}
	_, err = newClient(t, Options{}).Pull(context.Background(), ref)
	wantError(t, err, KindUnreachable, "--ca-file")
}

// once breaks the first request that matches and lets the rest pass.
func once(method, part string, answer http.HandlerFunc) sabotage {
	return firstOnly(on(func(r *http.Request) bool {
		return (method == "" || r.Method == method) && strings.Contains(r.URL.Path, part)
	}, answer))
}

// comeBackIn answers with a Retry-After.
func comeBackIn(status int, seconds string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", seconds)
		w.WriteHeader(status)
	}
}

// cutting lets so many bytes of a body pass and cuts the connection.
func cutting(next http.Handler, n int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		left := &atomic.Int64{}
		left.Store(n)
		next.ServeHTTP(&bodyMeter{ResponseWriter: w, left: left}, r)
	}
}

func hangUp(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.CopyN(io.Discard, r.Body, 1000)
	panic(http.ErrAbortHandler)
}

// bodyMeter counts the bytes of bodies, and cuts the connection when none are left.
type bodyMeter struct {
	http.ResponseWriter
	left *atomic.Int64 // shared by all answers; nil is no limit
	sent *atomic.Int64
}

func (m *bodyMeter) Write(p []byte) (int, error) {
	cut := false
	if m.left != nil {
		if rest := m.left.Add(-int64(len(p))); rest < 0 {
			p, cut = p[:max(0, int64(len(p))+rest)], true
		}
	}
	n, err := m.ResponseWriter.Write(p)
	if m.sent != nil {
		m.sent.Add(int64(n))
	}
	if cut {
		_ = http.NewResponseController(m.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

func slowly(next http.Handler) sabotage {
	return func(w http.ResponseWriter, r *http.Request) bool {
		time.Sleep(10 * time.Millisecond)
		next.ServeHTTP(w, r)
		return true
	}
}

// One fault once, anywhere on the way, costs a try and nothing else.
func TestFaultsThatPass(t *testing.T) {
	everyRegistry(t, func(t *testing.T, s *server) {
		faults := map[string]sabotage{"latency": slowly(s.registry)}
		for _, at := range []struct{ name, method, path string }{
			{"ping", "GET", "/v2/"}, {"manifest", "GET", "/manifests/"}, {"blob", "GET", "/blobs/sha256"},
			{"look", "HEAD", "/blobs/sha256"}, {"start of an upload", "POST", "/uploads"},
			{"upload", "PATCH", "/upload"}, {"end of an upload", "PUT", "/upload"}, {"manifest upload", "PUT", "/manifests/"},
		} {
			faults["503 at the "+at.name] = once(at.method, at.path, code(503, ""))
			faults["429 with Retry-After at the "+at.name] = once(at.method, at.path, comeBackIn(429, "0"))
			faults["connection cut at the "+at.name] = once(at.method, at.path, hangUp)
		}
		for _, n := range []int64{0, 1, 1000, 200_000} {
			faults[fmt.Sprintf("blob cut after %d bytes", n)] = firstOnly(on(blob, cutting(s.registry, n)))
			faults[fmt.Sprintf("manifest cut after %d bytes", n)] = once("GET", "/manifests/", cutting(s.registry, n))
		}
		tag := 0
		for name, fault := range faults {
			tag++
			ref := s.ref(fmt.Sprintf(":%d", tag))
			c := plainClient(t)
			a := big()
			a.Layers = append(a.Layers, bytesLayer("docs/tag", []byte(ref))) // or nothing would be uploaded
			s.sabotage(fault)
			if _, err := c.Push(context.Background(), ref, a, PushOptions{}); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got, err := c.Pull(context.Background(), ref)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			wantBundle(t, got, a)
			wantWhole(t, c.options.CacheDir)
		}
	})
}

// Faults that stay are errors of a kind; what they leave in the cache harms nothing.
func TestFaultsThatStay(t *testing.T) {
	everyRegistry(t, func(t *testing.T, s *server) {
		mustPush(t, plainClient(t), s.ref(":1"), big())
		for name, c := range map[string]struct {
			fault sabotage
			kind  Kind
		}{
			"wrong bytes": {on(blob, send(big().Layers[0].Size, true)), KindIntegrity},
			"HTML":        {on(manifestGet, code(200, page)), KindNotRegistry},
			"503":         {on(blob, code(503, "")), KindUnreachable},
			"429":         {on(blob, comeBackIn(429, "0")), KindRateLimited},
			"cut":         {on(blob, cutting(s.registry, 10_000)), KindUnreachable},
		} {
			client := plainClient(t)
			s.sabotage(c.fault)
			_, err := client.Pull(context.Background(), s.ref(":1"))
			if !isKind(err, c.kind) {
				t.Errorf("%s: got %v, want kind %s", name, err, c.kind)
			}
			wantWhole(t, client.options.CacheDir)
			s.sabotage(nil)
			got, err := client.Pull(context.Background(), s.ref(":1"))
			if err != nil {
				t.Fatalf("after %s: %v", name, err)
			}
			wantBundle(t, got, big())
		}
	})
}

// A cache between client and registry may know an old tag: that gives the old bundle as a
// whole, and by digest it gives nothing else than what was asked for.
func TestStaleTag(t *testing.T) {
	everyRegistry(t, func(t *testing.T, s *server) {
		c := plainClient(t)
		mustPush(t, c, s.ref(":1"), hello())
		moved, err := c.Push(context.Background(), s.ref(":1"), big(), PushOptions{Force: true})
		if err != nil {
			t.Fatal(err)
		}
		s.sabotage(on(manifestGet, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaTypeManifest)
			_, _ = io.WriteString(w, goldenManifest)
		}))
		got, err := plainClient(t).Pull(context.Background(), s.ref(":1"))
		if err != nil {
			t.Fatal(err)
		}
		wantBundle(t, got, hello())
		_, err = plainClient(t).Pull(context.Background(), moved.Reference)
		wantError(t, err, KindIntegrity, "do not use")
	})
}
