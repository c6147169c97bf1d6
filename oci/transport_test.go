package oci

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlainHTTPMustBeSaid(t *testing.T) {
	s := newServer(t)
	mustPush(t, plainClient(t), s.ref(":1"), hello())
	_, port, _ := strings.Cut(s.host(), ":")
	for _, host := range []string{s.host(), "localhost:" + port} {
		s.sabotage(nil)
		c := newClient(t, Options{})
		_, err := c.Pull(context.Background(), host+"/me/hello:1")
		wantError(t, err, KindUnreachable, "--plain-http")
		_, err = c.Push(context.Background(), host+"/me/hello:2", hello(), PushOptions{})
		wantError(t, err, KindUnreachable, "--plain-http")
		if len(s.requests) != 0 {
			t.Errorf("%s was asked over http: %q", host, s.requests)
		}
	}
	// Insecure is about certificates and allows no http.
	_, err := newClient(t, Options{Insecure: true}).Pull(context.Background(), s.ref(":1"))
	wantError(t, err, KindUnreachable, "--plain-http")
}

func tlsServer(t *testing.T) (*server, *httptest.Server) {
	t.Helper()
	s := newServer(t)
	secure := httptest.NewUnstartedServer(s)
	secure.Config.ErrorLog = discardLog()
	secure.StartTLS()
	t.Cleanup(secure.Close)
	return s, secure
}

func TestTLS(t *testing.T) {
	_, secure := tlsServer(t)
	ref := strings.TrimPrefix(secure.URL, "https://") + "/me/hello:1"
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	mustPush(t, newClient(t, Options{CAFile: ca}), ref, hello())
	for name, o := range map[string]Options{"ca file": {CAFile: ca}, "insecure": {Insecure: true}} {
		got, err := newClient(t, o).Pull(context.Background(), ref)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantBundle(t, got, hello())
	}
	_, err := newClient(t, Options{}).Pull(context.Background(), ref)
	wantError(t, err, KindUnreachable, "--ca-file")
	_, err = plainClient(t).Pull(context.Background(), ref)
	wantError(t, err, KindNotRegistry, "--plain-http")
	_, err = newClient(t, Options{CAFile: ca + ".missing"}).Pull(context.Background(), ref)
	wantError(t, err, KindInvalid, "--ca-file")
	if err := os.WriteFile(ca, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = newClient(t, Options{CAFile: ca}).Pull(context.Background(), ref)
	wantError(t, err, KindInvalid, "--ca-file")
}

// A registry that speaks https cannot lead the client to http, neither for a blob nor
// for a token.
func TestNoWayFromHTTPSToHTTP(t *testing.T) {
	s, secure := tlsServer(t)
	c := newClient(t, Options{Insecure: true})
	ref := strings.TrimPrefix(secure.URL, "https://") + "/me/hello:1"
	mustPush(t, c, ref, big())
	s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
		if r.TLS == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.requests = append(s.requests, "plain")
			return false
		}
		if !blob(r) {
			return false
		}
		http.Redirect(w, r, s.URL+r.URL.Path, http.StatusTemporaryRedirect)
		return true
	})
	_, err := c.Pull(context.Background(), ref)
	wantError(t, err, KindUnreachable, "no link from https to http")
	s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+s.URL+`/token"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	_, err = c.Pull(context.Background(), ref)
	wantError(t, err, KindUnreachable, "")
	if s.count("plain") != 0 || s.count("/token") != 0 {
		t.Errorf("asked over http: %q", s.requests)
	}
}
