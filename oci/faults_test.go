package oci

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

type sabotage = func(w http.ResponseWriter, r *http.Request) bool

const page = "<!DOCTYPE html><html><body>Welcome</body></html>"

func blob(r *http.Request) bool {
	return r.Method == "GET" && strings.HasSuffix(r.URL.Path, "/blobs/"+big().Layers[0].Digest)
}

func manifestGet(r *http.Request) bool {
	return r.Method == "GET" && strings.Contains(r.URL.Path, "/manifests/")
}

// on replaces the answers that match.
func on(match func(*http.Request) bool, answer http.HandlerFunc) sabotage {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !match(r) {
			return false
		}
		answer(w, r)
		return true
	}
}

func everything(*http.Request) bool { return true }
func pings(r *http.Request) bool    { return isPing(r) }

func code(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if strings.HasPrefix(body, "<") {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// firstOnly breaks the first answer and lets the later ones pass.
func firstOnly(f sabotage) sabotage {
	var done atomic.Bool
	return func(w http.ResponseWriter, r *http.Request) bool {
		if done.Load() {
			return false
		}
		answered := true // also when the answer ends in a panic
		defer func() {
			if answered {
				done.Store(true)
			}
		}()
		answered = f(w, r)
		return answered
	}
}

// halfBody announces all of the module and sends half of it.
func halfBody(w http.ResponseWriter, _ *http.Request) {
	size := int(big().Layers[0].Size)
	w.Header().Set("Content-Length", fmt.Sprint(size))
	_, _ = w.Write(make([]byte, size/2))
}

func send(n int64, announce bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if announce {
			w.Header().Set("Content-Length", fmt.Sprint(n))
		} else {
			_ = http.NewResponseController(w).Flush() // chunked
		}
		_, _ = io.CopyN(w, zeros{}, n)
	}
}

func hang(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func hangInBody(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", fmt.Sprint(big().Layers[0].Size))
	_, _ = w.Write(make([]byte, 1000))
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func TestPullFaults(t *testing.T) {
	size := big().Layers[0].Size
	unknown := `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}`
	cases := []struct {
		name     string
		fault    sabotage
		kind     Kind // empty: the pull succeeds
		hint     string
		path     string // requests for this path …
		requests int    // … are so many
	}{
		{"HTML for everything", on(everything, code(200, page)), KindNotRegistry, "host", "/manifests/", 1},
		{"HTML and 404 for everything", on(everything, code(404, page)), KindNotRegistry, "host", "/v2/", 1},
		{"404 for the ping", on(pings, code(404, "")), KindNotRegistry, "host", "/v2/", 1},
		{"301 into nowhere", on(pings, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/v2/", http.StatusMovedPermanently) }), KindUnreachable, "host", "", -1},
		{"HTML for the manifest", on(manifestGet, code(200, page)), KindNotRegistry, "host", "/manifests/", 1},
		{"HTML and 404 for the manifest", on(manifestGet, code(404, page)), KindNotRegistry, "host", "/manifests/", 1},
		{"401 for everything", on(everything, code(401, "")), KindUnauthorized, "log in", "/manifests/", 1},
		{"401 for the manifest", on(manifestGet, code(401, `{"errors":[{"code":"UNAUTHORIZED","message":"no"}]}`)), KindUnauthorized, "log in", "/manifests/", 1},
		{"403 for the blob", on(blob, code(403, "")), KindUnauthorized, "log in", "/blobs/" + big().Layers[0].Digest, 1},
		{"404 for the manifest", on(manifestGet, code(404, unknown)), KindNotFound, "tag", "/manifests/", 1},
		{"404 for the blob", on(blob, code(404, "")), KindNotFound, "digest", "/blobs/" + big().Layers[0].Digest, 1},
		{"429 for the ping", on(pings, code(429, "")), KindRateLimited, "wait", "/v2/", 3},
		{"429 for the manifest", on(manifestGet, code(429, "")), KindRateLimited, "wait", "/manifests/", 3},
		{"429 once", firstOnly(on(manifestGet, code(429, ""))), "", "", "/manifests/", 2},
		{"408 once", firstOnly(on(blob, code(408, ""))), "", "", "/blobs/" + big().Layers[0].Digest, 2},
		{"500 for everything", on(everything, code(500, page)), KindUnreachable, "later", "/v2/", 3},
		{"503 for the blob", on(blob, code(503, "")), KindUnreachable, "later", "/blobs/" + big().Layers[0].Digest, 3},
		{"418", on(blob, code(418, "")), KindNotRegistry, "host", "/blobs/" + big().Layers[0].Digest, 1},
		{"half a body, always", on(blob, halfBody), KindUnreachable, "later", "/blobs/" + big().Layers[0].Digest, 3},
		{"half a body of wrong bytes, once", firstOnly(on(blob, halfBody)), "", "", "/blobs/" + big().Layers[0].Digest, 3},
		{"wrong bytes", on(blob, send(size, true)), KindIntegrity, "do not use", "/blobs/" + big().Layers[0].Digest, 1},
		{"wrong bytes, chunked", on(blob, send(size, false)), KindIntegrity, "do not use", "/blobs/" + big().Layers[0].Digest, 1},
		{"too few bytes", on(blob, send(size-1, true)), KindIntegrity, "do not use", "/blobs/" + big().Layers[0].Digest, 1},
		{"too few bytes, chunked", on(blob, send(size-1, false)), KindIntegrity, "do not use", "/blobs/" + big().Layers[0].Digest, 1},
		{"too many bytes", on(blob, send(size+1, true)), KindIntegrity, "do not use", "/blobs/" + big().Layers[0].Digest, 1},
		{"endless bytes", on(blob, send(1<<40, false)), KindIntegrity, "do not use", "/blobs/" + big().Layers[0].Digest, 1},
		{"empty body", on(blob, code(200, "")), KindIntegrity, "do not use", "/blobs/" + big().Layers[0].Digest, 1},
		{"no manifest but JSON", on(manifestGet, code(200, `{"tags":[]}`)), KindInvalid, "no AIR bundle", "/manifests/", 1},
		{"G20 an index as the tag", on(manifestGet, code(200, `{"schemaVersion":2,"manifests":[]}`)), KindInvalid, "name one bundle", "/manifests/", 1},
		{"manifest too large", on(manifestGet, send(MaxManifest+1, true)), KindTooLarge, "", "/manifests/", 1},
		{"endless manifest", on(manifestGet, send(1<<40, false)), KindTooLarge, "", "/manifests/", 1},
		{"tag with another digest", on(manifestGet, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Docker-Content-Digest", goldenDigest)
			_, _ = io.WriteString(w, strings.Replace(goldenManifest, "says", "said", 1))
		}), KindIntegrity, "do not use", "/manifests/", 1},
		{"endless ping", on(pings, send(1<<40, false)), "", "", "/manifests/", 1},
		{"hangs at once", on(everything, hang), KindUnreachable, "hangs", "/v2/", 1},
		{"hangs at the blob", on(blob, hang), KindUnreachable, "hangs", "/blobs/" + big().Layers[0].Digest, 1},
		{"hangs in a body", on(blob, hangInBody), KindUnreachable, "hangs", "/blobs/" + big().Layers[0].Digest, 1},
		{"token server without a realm", on(everything, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", "Bearer nonsense")
			w.WriteHeader(401)
		}), KindUnreachable, "host", "", -1},
		{"blob redirected to another plain http address", on(blob, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/x", http.StatusTemporaryRedirect)
		}), KindUnreachable, "alone", "", -1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			client := newClient(t, Options{PlainHTTP: true, Idle: 200 * time.Millisecond})
			mustPush(t, client, s.ref(":1"), big())
			s.sabotage(c.fault)
			start := time.Now()
			got, err := client.Pull(context.Background(), s.ref(":1"))
			if c.kind != "" {
				wantError(t, err, c.kind, c.hint)
				if err != nil && !strings.Contains(err.Error(), s.ref(":1")) {
					t.Errorf("%v does not name the reference", err)
				}
			} else if err != nil {
				t.Fatal(err)
			} else {
				wantBundle(t, got, big())
			}
			if n := s.count(c.path); c.requests >= 0 && n != c.requests {
				t.Errorf("%d requests for %s, want %d: %q", n, c.path, c.requests, s.requests)
			}
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("took %v", took)
			}
			wantWhole(t, client.options.CacheDir)
			// The cache is not poisoned: once the server behaves, the pull works.
			s.sabotage(nil)
			if got, err = client.Pull(context.Background(), s.ref(":1")); err != nil {
				t.Fatalf("after the fault: %v", err)
			}
			wantBundle(t, got, big())
		})
	}
}

// By digest the bytes have to be the very ones, whatever the headers say.
func TestPullByDigestFaults(t *testing.T) {
	for name, f := range map[string]sabotage{
		"another bundle": on(manifestGet, code(200, strings.Replace(goldenManifest, "says", "said", 1))),
		"another bundle with the right header": on(manifestGet, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Docker-Content-Digest", goldenDigest)
			_, _ = io.WriteString(w, strings.Replace(goldenManifest, "says", "said", 1))
		}),
		"an index": on(manifestGet, code(200, `{"schemaVersion":2,"manifests":[]}`)),
	} {
		t.Run(name, func(t *testing.T) {
			s, c := newServer(t), plainClient(t)
			s.sabotage(f)
			_, err := c.Pull(context.Background(), s.ref("@"+goldenDigest))
			wantError(t, err, KindIntegrity, "do not use")
			wantWhole(t, c.options.CacheDir)
			if s.count("/manifests/") != 1 {
				t.Errorf("retried: %q", s.requests)
			}
		})
	}
}

func TestIntegrityErrorNamesServerAndFile(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), big())
	s.sabotage(on(blob, send(big().Layers[0].Size, true)))
	_, err := c.Pull(context.Background(), s.ref(":1"))
	for _, part := range []string{"pulling", s.host(), "module.wasm", "digest mismatch", big().Layers[0].Digest} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not mention %s", err, part)
		}
	}
}

func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, never answers
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	for _, plain := range []bool{true, false} {
		c := newClient(t, Options{PlainHTTP: plain, Idle: 200 * time.Millisecond})
		_, err = c.Pull(context.Background(), free+"/x:1")
		wantError(t, err, KindUnreachable, "runs there")
		_, err = c.Pull(context.Background(), silent.Addr().String()+"/x:1")
		wantError(t, err, KindUnreachable, "hangs")
	}
	_, err = plainClient(t).Pull(context.Background(), "nonexistent.invalid/x:1")
	wantError(t, err, KindUnreachable, "host name")
	_, err = plainClient(t).Pull(context.Background(), "hello:1")
	wantError(t, err, KindInvalid, "HOST")
}

func TestServersTextCannotMoveTheCursor(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	s.sabotage(on(manifestGet, code(404, `{"errors":[{"code":"X","message":"\u001b[2J\n`+strings.Repeat("long ", 1000)+`"}]}`)))
	_, err := c.Pull(context.Background(), s.ref(":1"))
	wantError(t, err, KindNotFound, "") // which also wants a short, clean line
}
