package oci

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cuelabs.dev/go/oci/ociregistry/ocimem"
	"cuelabs.dev/go/oci/ociregistry/ociserver"

	"github.com/aircoding/air/internal/canon"
)

func bytesLayer(title string, content []byte) Layer {
	return Layer{
		Title: title, Digest: canon.Digest(content), Size: int64(len(content)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
	}
}

// hello is the bundle of the golden manifest.
func hello() Artifact {
	return Artifact{
		Config: []byte(`{"id":"hello","version":"0.1.0"}`),
		Title:  "hello", Version: "0.1.0", Description: "says hello",
		Layers: []Layer{
			bytesLayer("module.wasm", []byte("\x00asm\x01\x00\x00\x00")),
			bytesLayer("schemas/greet.json", []byte(`{"type":"object"}`)),
			bytesLayer("HELP.md", []byte("# hello\n")),
		},
	}
}

// big is a bundle whose module does not fit into one packet.
func big() Artifact {
	a := hello()
	a.Layers[0] = bytesLayer("module.wasm", bytes.Repeat([]byte("\x00asm\x01\x00\x00\x00"), 32<<10))
	return a
}

// server is a registry in memory whose answers a test may replace.
type server struct {
	*httptest.Server
	registry http.Handler

	mu       sync.Mutex
	requests []string
	fault    func(w http.ResponseWriter, r *http.Request) bool // true: it has answered
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{registry: ociserver.New(ocimem.New(), nil)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	fault := s.fault
	s.mu.Unlock()
	if fault == nil || !fault(w, r) {
		s.registry.ServeHTTP(w, r)
	}
}

func (s *server) sabotage(fault func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.requests = fault, nil
}

// count returns how many requests contained a text since the last sabotage.
func (s *server) count(part string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if strings.Contains(r, part) {
			n++
		}
	}
	return n
}

func (s *server) host() string { return strings.TrimPrefix(s.URL, "http://") }

func (s *server) ref(rest string) string { return s.host() + "/me/hello" + rest }

// newClient is impatient, so that faults show quickly.
func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	noDockerConfig(t)
	if o.CacheDir == "" {
		o.CacheDir = filepath.Join(t.TempDir(), "plugins")
	}
	if o.Idle == 0 {
		o.Idle = 5 * time.Second
	}
	o.Backoff = time.Millisecond
	return NewClient(o)
}

func plainClient(t *testing.T) *Client { return newClient(t, Options{PlainHTTP: true}) }

// noDockerConfig keeps the machine's own credentials out of a test that set none.
func noDockerConfig(t *testing.T) {
	t.Helper()
	if !strings.HasPrefix(os.Getenv("DOCKER_CONFIG"), os.TempDir()) {
		t.Setenv("DOCKER_CONFIG", t.TempDir())
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("REGISTRY_AUTH_FILE", "")
}

func mustPush(t *testing.T, c *Client, ref string, a Artifact) Pushed {
	t.Helper()
	p, err := c.Push(context.Background(), ref, a, PushOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wantError checks kind and hint of an error and that it is an *Error at all.
func wantError(t *testing.T, err error, kind Kind, hint string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error of kind %s", err, kind)
	}
	if e.Kind != kind {
		t.Errorf("got kind %s (%v), want %s", e.Kind, err, kind)
	}
	if !strings.Contains(e.Hint, hint) {
		t.Errorf("hint %q of %v does not contain %q", e.Hint, err, hint)
	}
	if len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("error is no short line: %q", err)
	}
}

// wantWhole checks that what a cache holds under a digest's name is that, whole.
func wantWhole(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "sha256"), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() || strings.HasSuffix(e.Name(), partialSuffix) {
			return err
		}
		content, err := os.ReadFile(path)
		if canon.Digest(content) != "sha256:"+e.Name() {
			t.Errorf("cache holds %s, which is not what its name says", e.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantBundle checks that what came back is what was pushed.
func wantBundle(t *testing.T, p Pulled, a Artifact) {
	t.Helper()
	raw, digest, err := a.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if p.Digest != digest || !bytes.Equal(p.Manifest, raw) || !bytes.Equal(p.Config, a.Config) {
		t.Errorf("pulled %s, want %s; manifest %s, config %s", p.Digest, digest, p.Manifest, p.Config)
	}
	layers := a.ordered()
	if len(p.Layers) != len(layers) {
		t.Fatalf("pulled %d layers, want %d", len(p.Layers), len(layers))
	}
	for i, l := range layers {
		got := p.Layers[i]
		content, err := os.ReadFile(got.Path)
		if err != nil {
			t.Fatal(err)
		}
		if got.Title != l.Title || got.Size != l.Size || canon.Digest(content) != l.Digest {
			t.Errorf("layer %d: got %+v, want %s", i, got, l.Title)
		}
	}
}
