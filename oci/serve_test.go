package oci

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cuelabs.dev/go/oci/ociregistry/ociserver"
)

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

// serveTest runs Serve until the test ends and returns its address.
func serveTest(t testing.TB, o ServeOptions) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	o.Ready = func(addr string) { ready <- addr }
	go func() { done <- Serve(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("serving: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the registry does not stop")
		}
	})
	select {
	case addr := <-ready:
		return addr
	case err := <-done:
		done <- nil
		t.Fatal(err)
		return ""
	}
}

// request sends a request and returns status and body.
func request(t *testing.T, method, url string, change func(*http.Request)) (int, string) {
	t.Helper()
	var body io.Reader
	if method == http.MethodPut || method == http.MethodPatch {
		body = strings.NewReader("{}")
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestServeListensOnLoopback(t *testing.T) {
	host, _, err := net.SplitHostPort(serveTest(t, ServeOptions{}))
	if err != nil || !net.ParseIP(host).IsLoopback() {
		t.Errorf("listens on %s, %v", host, err)
	}
}

func TestDNSRebinding(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{
		addr: 200, "localhost:" + port: 200, "LOCALHOST": 200, "air.localhost:" + port: 200, "[::1]:" + port: 200, "127.0.0.2:1": 200,
		"evil.example.com": 403, "evil.example.com:" + port: 403, "localhost.example.com": 403, "127.0.0.1.example.com:" + port: 403,
		"192.168.0.1": 403, "0.0.0.0": 403,
	} {
		code, body := request(t, "GET", "http://"+addr+"/v2/", func(r *http.Request) { r.Host = host })
		if code != want {
			t.Errorf("host %s: got %d, want %d", host, code, want)
		}
		if code == 403 && !strings.Contains(body, `"code":"DENIED"`) {
			t.Errorf("host %s: no reason in %s", host, body)
		}
	}
}

// A page in a browser may not write to the registry of its visitor.
func TestCrossOriginWrites(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	code, _ := request(t, "POST", "http://"+addr+"/v2/x/blobs/uploads/", func(r *http.Request) {
		r.Header.Set("Origin", "https://evil.example.com")
	})
	if code != http.StatusForbidden {
		t.Errorf("got %d, want 403", code)
	}
}

// guarded is a registry as it would be beyond loopback, without listening there.
func guarded(t *testing.T, token string) http.Handler {
	t.Helper()
	store, err := newDirStore(t.Context(), t.TempDir(), defaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	return newGuard(ociserver.New(store, nil), &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 5000}, ServeOptions{Addr: "192.0.2.1:5000", Token: token})
}

func TestBeyondLoopback(t *testing.T) {
	open, closed := newServer(t), newServer(t)
	open.registry, closed.registry = guarded(t, "s3cret"), guarded(t, "")
	const upload = "/v2/x/blobs/uploads/"
	basic := func(r *http.Request) { r.SetBasicAuth("anyone", "s3cret") }
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer s3cret") }
	wrong := func(r *http.Request) { r.SetBasicAuth("anyone", "wrong") }
	for _, c := range []struct {
		name, method, url string
		change            func(*http.Request)
		code              int
		text              string
	}{
		{"no token: ping", "GET", closed.URL + "/v2/", nil, 200, ""},
		{"no token: read", "GET", closed.URL + "/v2/x/tags/list", nil, 404, "NAME_UNKNOWN"},
		{"no token: write", "POST", closed.URL + upload, nil, 403, "read-only"},
		{"no token: put", "PUT", closed.URL + "/v2/x/manifests/1", nil, 403, "without a token"},
		{"no token: delete", "DELETE", closed.URL + "/v2/x/manifests/1", nil, 403, "read-only"},
		{"no token: empty password", "POST", closed.URL + upload, func(r *http.Request) { r.SetBasicAuth("a", "") }, 403, "read-only"},
		{"token: ping says that one may log in", "GET", open.URL + "/v2/", nil, 401, "token"},
		{"token: read", "GET", open.URL + "/v2/x/tags/list", nil, 404, "NAME_UNKNOWN"},
		{"token: write without", "POST", open.URL + upload, nil, 401, "UNAUTHORIZED"},
		{"token: write with a wrong one", "POST", open.URL + upload, wrong, 401, ""},
		{"token: write as basic auth", "POST", open.URL + upload, basic, 202, ""},
		{"token: write as bearer", "POST", open.URL + upload, bearer, 202, ""},
	} {
		if code, body := request(t, c.method, c.url, c.change); code != c.code || !strings.Contains(body, c.text) {
			t.Errorf("%s: got %d %s, want %d with %q", c.name, code, body, c.code, c.text)
		}
	}
}

// The token works for our own client through docker's configuration, and the refusal
// of a registry without one reaches the user.
func TestTokenWithTheClient(t *testing.T) {
	s := newServer(t)
	s.registry = guarded(t, "s3cret")
	c := plainClient(t)
	_, err := c.Push(context.Background(), s.ref(":1"), hello(), PushOptions{})
	wantError(t, err, KindUnauthorized, "log in")
	login(t, s.host(), "air", "s3cret")
	mustPush(t, c, s.ref(":1"), hello())
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	if _, err := c.Pull(context.Background(), s.ref(":1")); err != nil {
		t.Errorf("reading needs no login: %v", err)
	}
	s.registry = guarded(t, "")
	_, err = c.Push(context.Background(), s.ref(":1"), hello(), PushOptions{})
	wantError(t, err, KindUnauthorized, "")
	if err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("%v does not say why", err)
	}
}

func TestRequestLimits(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	for path, size := range map[string]int64{"/v2/x/manifests/1": MaxManifest + 1, "/v2/x/blobs/uploads/abc?digest=" + goldenDigest: maxBlobBody + 1} {
		code, _ := request(t, "PUT", "http://"+addr+path, func(r *http.Request) {
			r.ContentLength = size
			r.Body = io.NopCloser(io.LimitReader(zeros{}, size))
		})
		if code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: got %d, want 413", path, code)
		}
	}
}

// A repository may be called manifests, and has blobs as any other.
func TestBlobLimitOfARepositoryCalledManifests(t *testing.T) {
	postBlob(t, serveTest(t, ServeOptions{}), "me/manifests/hello", strings.Repeat("x", MaxManifest+1))
}

// Without a folder of its own the registry leaves nothing.
func TestTemporaryFolderGoes(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Run("while it runs", func(t *testing.T) { postBlob(t, serveTest(t, ServeOptions{}), "x", "something") })
	if left := tree(t, dir); len(left) != 1 {
		t.Errorf("left %q", left)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestAddressInUse(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	err := Serve(context.Background(), ServeOptions{Addr: addr})
	wantError(t, err, KindConflict, "--addr")
	wantError(t, Serve(context.Background(), ServeOptions{Addr: "nonsense"}), KindInvalid, "HOST:PORT")
	wantError(t, Serve(context.Background(), ServeOptions{Dir: "/dev/null/x"}), KindLocal, "")
}

// A request under way is finished when the registry is told to stop.
func TestGracefulShutdown(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- Serve(ctx, ServeOptions{Dir: t.TempDir(), Ready: func(a string) { ready <- a }})
	}()
	addr := <-ready
	body, feed := io.Pipe()
	got := make(chan int, 1)
	go func() {
		req, err := http.NewRequest("POST", "http://"+addr+"/v2/x/blobs/uploads/?digest="+hello().Layers[0].Digest, body)
		if err != nil {
			t.Error(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			got <- 0
			return
		}
		got <- resp.StatusCode
		_ = resp.Body.Close()
	}()
	_, _ = io.WriteString(feed, "\x00asm")
	time.Sleep(50 * time.Millisecond)
	cancel()
	time.Sleep(50 * time.Millisecond)
	_, _ = io.WriteString(feed, "\x01\x00\x00\x00")
	_ = feed.Close()
	if code := <-got; code != http.StatusCreated {
		t.Errorf("got %d, want 201", code)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestContentSurvivesARestart(t *testing.T) {
	dir, c := t.TempDir(), plainClient(t)
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- Serve(ctx, ServeOptions{Dir: dir, Ready: func(a string) { ready <- a }}) }()
	mustPush(t, c, (<-ready)+"/me/hello:1", hello())
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	got, err := c.Pull(context.Background(), serveTest(t, ServeOptions{Dir: dir})+"/me/hello:1")
	if err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, hello())
	left, err := os.ReadDir(filepath.Join(dir, "uploads"))
	if err != nil || len(left) != 0 {
		t.Errorf("uploads left behind: %v, %v", left, err)
	}
}

func TestStaleUploadsGo(t *testing.T) {
	dir := t.TempDir()
	if _, err := newDirStore(t.Context(), dir, defaultQuota); err != nil {
		t.Fatal(err)
	}
	old, fresh := filepath.Join(dir, "uploads", strings.Repeat("a", 32)), filepath.Join(dir, "uploads", strings.Repeat("b", 32))
	for _, path := range []string{old, fresh} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-2 * staleUpload)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	if _, err := newDirStore(t.Context(), dir, defaultQuota); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the stale upload is still there: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("a fresh upload is gone: %v", err)
	}
}

// Whatever is asked, the answer is an error in the registry's own form.
func TestOddRequests(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	for _, path := range []string{"/", "/v1/", "/v2/x", "/v2/x/manifests/", "/v2/x/manifests/-", "/v2//manifests/1", "/v2/x/blobs/", "/v2/x/blobs/sha256:",
		"/v2/../../etc/passwd", "/v2/x/blobs/..%2f..%2fetc%2fpasswd", "/v2/x/manifests/..%2f..", "/v2/%2e%2e/manifests/1", "/v2/x/blobs/sha512:" + strings.Repeat("0", 128),
		"/v2/x/blobs/uploads/", "/v2/x/blobs/uploads/Li4vLi4vZXRj", "/v2/x/referrers/" + goldenDigest} {
		for _, method := range []string{"GET", "HEAD", "PUT", "POST", "PATCH", "DELETE"} {
			code, body := request(t, method, "http://"+addr+path, nil)
			if code == http.StatusOK && !strings.Contains(path, "referrers") || code == http.StatusInternalServerError {
				t.Errorf("%s %s: got %d %s", method, path, code, body)
			}
		}
	}
}

func TestMismatchIsAnsweredBriefly(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	resp, err := http.Post("http://"+addr+"/v2/x/blobs/uploads/", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	code, body := request(t, "PUT", "http://"+addr+resp.Header.Get("Location")+"?digest="+goldenDigest, func(r *http.Request) {
		r.ContentLength, r.Body = 1<<20, io.NopCloser(io.LimitReader(zeros{}, 1<<20))
	})
	if code != http.StatusBadRequest || !strings.Contains(body, "DIGEST_INVALID") || len(body) > 2000 {
		t.Errorf("got %d with %d bytes: %.200s", code, len(body), body)
	}
}
