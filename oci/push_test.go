package oci

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

func TestSecondPushIsANoOp(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), hello())
	s.sabotage(nil)
	p := mustPush(t, c, s.ref(":1"), hello())
	if !p.Existed || p.Digest != goldenDigest {
		t.Errorf("got %+v, want it to have existed", p)
	}
	if s.count("POST")+s.count("PUT")+s.count("PATCH") != 0 {
		t.Errorf("second push sent %q", s.requests)
	}
	// A second tag of the same bundle needs its manifest only.
	s.sabotage(nil)
	if p := mustPush(t, c, s.ref(":2"), hello()); p.Existed {
		t.Errorf("got %+v", p)
	}
	if s.count("POST")+s.count("PATCH") != 0 || s.count("PUT") != 1 {
		t.Errorf("push of another tag sent %q", s.requests)
	}
}

func TestMovingATagNeedsForce(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), hello())
	_, err := c.Push(context.Background(), s.ref(":1"), big(), PushOptions{})
	wantError(t, err, KindConflict, "--force")
	if err == nil || !strings.Contains(err.Error(), goldenDigest) || !strings.Contains(err.Error(), s.ref(":1")) {
		t.Errorf("%v does not name what is there", err)
	}
	if got, err := c.Pull(context.Background(), s.ref(":1")); err != nil || got.Digest != goldenDigest {
		t.Errorf("the refused push moved the tag: %s, %v", got.Digest, err)
	}
	if _, err := c.Push(context.Background(), s.ref(":1"), big(), PushOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	got, err := c.Pull(context.Background(), s.ref(":1"))
	if err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, big())
}

// A tag that holds something else than a bundle is not overwritten either.
func TestTagOfAnIndexNeedsForce(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	put(t, s, "1", "application/vnd.oci.image.index.v1+json", `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`)
	_, err := c.Push(context.Background(), s.ref(":1"), hello(), PushOptions{})
	wantError(t, err, KindConflict, "--force")
}

func TestPushNeedsATag(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	_, err := c.Push(context.Background(), s.ref("@"+goldenDigest), hello(), PushOptions{})
	wantError(t, err, KindInvalid, "tag")
}

func TestFileThatChangesWhileItIsPushed(t *testing.T) {
	for name, content := range map[string]string{"same size": "\x00asm\x02\x00\x00\x00", "shorter": "\x00asm", "longer": "\x00asm\x01\x00\x00\x00\x00", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			s, c := newServer(t), plainClient(t)
			a := hello()
			a.Layers[0].Open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
			_, err := c.Push(context.Background(), s.ref(":1"), a, PushOptions{})
			wantError(t, err, KindIntegrity, "push again")
			if s.count("PUT /v2/me/hello/manifests") != 0 {
				t.Error("the manifest was pushed")
			}
		})
	}
}

func TestFileThatCannotBeRead(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	a := hello()
	a.Layers[0].Open = func() (io.ReadCloser, error) { return os.Open("/nonexistent/module.wasm") }
	_, err := c.Push(context.Background(), s.ref(":1"), a, PushOptions{})
	wantError(t, err, KindLocal, "")
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestPushFaults(t *testing.T) {
	cases := []struct {
		name  string
		fault func(w http.ResponseWriter, r *http.Request) bool
		kind  Kind
		hint  string
	}{
		{"read-only", answer("POST", 403, `{"errors":[{"code":"DENIED","message":"read-only"}]}`), KindUnauthorized, "log in"},
		{"401 on upload", answer("POST", 401, ""), KindUnauthorized, "log in"},
		{"429 for ever", answer("PATCH", 429, ""), KindRateLimited, "wait"},
		{"500 for ever", answer("PUT", 500, "<html>oops</html>"), KindUnreachable, "later"},
		{"413", answer("PATCH", 413, ""), KindTooLarge, ""},
		{"405", answer("POST", 405, ""), KindNotRegistry, "host"},
		{"manifest refused", answer("PUT /v2/me/hello/manifests", 400, `{"errors":[{"code":"MANIFEST_INVALID","message":"no"}]}`), KindInvalid, ""},
		{"503 once", firstOnly(answer("PATCH", 503, "")), "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, client := newServer(t), plainClient(t)
			s.sabotage(c.fault)
			_, err := client.Push(context.Background(), s.ref(":1"), big(), PushOptions{})
			if c.kind != "" {
				wantError(t, err, c.kind, c.hint)
				s.sabotage(nil)
				_, err = client.Pull(context.Background(), s.ref(":1"))
				wantError(t, err, KindNotFound, "")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// answer replaces the answers to requests that begin so.
func answer(prefix string, code int, body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.Method+" "+r.URL.Path, prefix) {
			return false
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
		return true
	}
}

func TestRoundTripWithOtherRegistries(t *testing.T) {
	ggcr := httptest.NewServer(registry.New(registry.Logger(discardLog())))
	defer ggcr.Close()
	for name, host := range map[string]string{
		"go-containerregistry's": strings.TrimPrefix(ggcr.URL, "http://"),
		"ours in memory":         serveTest(t, ServeOptions{}),
		"ours on disk":           serveTest(t, ServeOptions{Dir: t.TempDir()}),
	} {
		t.Run(name, func(t *testing.T) {
			c := plainClient(t)
			a := big()
			a.Layers = append(a.Layers, bytesLayer("docs/empty", nil), bytesLayer("docs/copy.md", []byte("# hello\n")))
			p := mustPush(t, c, host+"/team/tools/hello:1", a)
			if again := mustPush(t, c, host+"/team/tools/hello:1", a); !again.Existed {
				t.Error("second push was no no-op")
			}
			for _, ref := range []string{host + "/team/tools/hello:1", p.Reference} {
				got, err := plainClient(t).Pull(context.Background(), ref)
				if err != nil {
					t.Fatal(err)
				}
				wantBundle(t, got, a)
			}
		})
	}
}
