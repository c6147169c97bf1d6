package oci

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cuelabs.dev/go/oci/ociregistry"

	"github.com/aircoding/air/internal/canon"
)

func TestMeter(t *testing.T) {
	m := &meter{limit: 10}
	room, err := m.reserve(6)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.take(5); err == nil {
		t.Error("what is reserved was given away")
	}
	if err := room.use(8); err != nil { // 2 more than reserved
		t.Error(err)
	}
	if err := room.use(3); err == nil || m.used != 8 {
		t.Errorf("got %v with %d used", err, m.used)
	}
	room.release()
	if m.used != 8 {
		t.Errorf("released what was used: %d", m.used)
	}
	if err := m.take(1 << 62); err == nil {
		t.Error("a sum beyond int64 fits")
	}
}

// G25: a registry takes no more than its quota, whichever way the bytes come, and says
// why. What was there stays, and what fits goes in.
func TestQuota(t *testing.T) {
	addr := serveTest(t, ServeOptions{Quota: 1 << 20})
	big := strings.Repeat("x", 2<<20)
	put := func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader(big)), int64(len(big)) }
	unsaid := func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader(big)), -1 }
	for what, send := range map[string]func() (int, string){
		"post": func() (int, string) {
			return request(t, "POST", "http://"+addr+"/v2/x/blobs/uploads/?digest="+canon.Digest([]byte(big)), put)
		},
		"put": func() (int, string) {
			return request(t, "PUT", begin(t, addr)+"?digest="+canon.Digest([]byte(big)), put)
		},
		"patch":      func() (int, string) { return request(t, "PATCH", begin(t, addr), put) },
		"stream":     func() (int, string) { return request(t, "PATCH", begin(t, addr), unsaid) },
		"a manifest": func() (int, string) { return request(t, "PUT", "http://"+addr+"/v2/x/manifests/1", largeManifest) },
	} {
		code, body := send()
		if code != http.StatusRequestEntityTooLarge || !strings.Contains(body, `"DENIED"`) || !strings.Contains(body, "the registry is full") {
			t.Errorf("%s: got %d %.300s", what, code, body)
		}
	}
	c := plainClient(t)
	_, err := c.Push(t.Context(), addr+"/me/big:1", fourMegabytes(), PushOptions{})
	wantError(t, err, KindTooLarge, "limit")
	if !strings.Contains(err.Error(), "the registry is full") {
		t.Errorf("%v does not say why", err)
	}
	mustPush(t, c, addr+"/me/hello:1", hello())
}

func largeManifest(r *http.Request) {
	text := `{"schemaVersion":2,"layers":[],"annotations":{"x":"` + strings.Repeat("y", 2<<20) + `"}}`
	r.Header.Set("Content-Type", mediaTypeManifest)
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
}

// begin starts an upload and returns its address.
func begin(t *testing.T, addr string) string {
	t.Helper()
	resp, err := http.Post("http://"+addr+"/v2/x/blobs/uploads/", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		t.Fatalf("got %s", resp.Status)
	}
	return "http://" + addr + resp.Header.Get("Location")
}

// fourMegabytes is a bundle of 4 MiB.
func fourMegabytes() Artifact {
	a := hello()
	a.Layers[0] = bytesLayer("module.wasm", []byte("\x00asm\x01\x00\x00\x00"+strings.Repeat("\x00\x02\x01x", 1<<20)))
	return a
}

// Everything that is taken comes back: after uploads that were given up, failed, came
// twice or were deleted, a registry counts what a fresh start would count.
func TestQuotaIsExact(t *testing.T) {
	dir := t.TempDir()
	s, err := newDirStore(t.Context(), dir, defaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	used := func(when string) {
		t.Helper()
		again, err := newDirStore(t.Context(), dir, defaultQuota)
		if err != nil {
			t.Fatal(err)
		}
		if s.meter.used != again.meter.used {
			t.Errorf("%s: counts %d, a fresh start counts %d", when, s.meter.used, again.meter.used)
		}
	}
	used("empty")
	pushBlob(t, s, "one")
	used("a blob")
	pushBlob(t, s, "one")
	used("the same blob")
	pushImage(t, s, "v1", "two")
	pushImage(t, s, "v1", "two")
	used("an image, twice")
	if _, err := s.PushBlobChunked(t.Context(), "a/b", maxBlobBody+1); err == nil {
		t.Error("an upload beyond the limit began")
	}
	used("an upload refused")
	w, err := s.PushBlobChunked(t.Context(), "a/b", 100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "ten bytes."); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(goldenDigest); err == nil {
		t.Error("another digest was taken")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	used("an upload under way")
	if err := w.Cancel(); err != nil {
		t.Fatal(err)
	}
	used("an upload given up")
	signature := pushReferrer(t, s, goldenDigest, "x/y", "1")
	used("a referrer")
	if err := errors.Join(s.DeleteManifest(t.Context(), "a/b", signature), s.DeleteTag(t.Context(), "a/b", "v1"), s.DeleteBlob(t.Context(), "a/b", emptyBlob)); err != nil {
		t.Fatal(err)
	}
	if s, err = newDirStore(t.Context(), dir, defaultQuota); err != nil { // what was deleted makes room now
		t.Fatal(err)
	}
	used("deleted")
	if left := tree(t, filepath.Join(dir, "blobs")); len(left) != 5 { // two folders, "one", "two" and its manifest
		t.Errorf("left %q", left)
	}
}

// What no manifest names a day later goes at a start; what is named, or new, stays.
func TestUnreferencedBlobsGo(t *testing.T) {
	dir := t.TempDir()
	s, err := newDirStore(t.Context(), dir, defaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	named := pushImage(t, s, "v1", "named")
	loose, fresh := pushBlob(t, s, "loose"), pushBlob(t, s, "fresh")
	past := time.Now().Add(-2 * abandonedBlob)
	for _, path := range tree(t, dir) {
		if !strings.Contains(path, fresh.Encoded()) {
			if err := os.Chtimes(path, past, past); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "blobs", "sha256", ".tmp-killed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = newDirStore(t.Context(), dir, defaultQuota); err != nil {
		t.Fatal(err)
	}
	if _, err := s.GetManifest(t.Context(), "a/b", named); err != nil {
		t.Error(err)
	}
	for digest, want := range map[ociregistry.Digest]bool{loose: false, fresh: true, ociregistry.Digest(canon.Digest([]byte("named"))): true} {
		if _, err := s.ResolveBlob(t.Context(), "a/b", digest); (err == nil) != want {
			t.Errorf("%s: %v", digest, err)
		}
		if path, err := s.blobPath(digest); err != nil || isFile(path) != want {
			t.Errorf("%s: its bytes are there: %v", digest, !want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "blobs", "sha256", ".tmp*")); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

// A folder is served once.
func TestOneRegistryPerFolder(t *testing.T) {
	dir := t.TempDir()
	serveTest(t, ServeOptions{Dir: dir})
	err := Serve(t.Context(), ServeOptions{Dir: dir})
	wantError(t, err, KindConflict, "another folder")
}

// As many clients write at one time as there are places; one more is told to come back.
func TestWritersAreBounded(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	var feeds []*io.PipeWriter
	defer func() {
		for _, feed := range feeds {
			_ = feed.Close()
		}
	}()
	for range maxWriters {
		body, feed := io.Pipe()
		feeds = append(feeds, feed)
		req, err := http.NewRequest("PATCH", begin(t, addr), body)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if resp, err := http.DefaultClient.Do(req); err == nil {
				_ = resp.Body.Close()
			}
		}()
		if _, err := fmt.Fprint(feed, "x"); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(5 * time.Second)
	for {
		req, err := http.NewRequest("POST", "http://"+addr+"/v2/x/blobs/uploads/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") == "1" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %s", resp.Status)
		}
	}
	if code, _ := request(t, "GET", "http://"+addr+"/v2/", nil); code != 200 {
		t.Errorf("reading: got %d", code)
	}
}

// A client that falls asleep in the middle of a push is let go of.
func TestSilentWriters(t *testing.T) {
	addr := serveTest(t, ServeOptions{Idle: 100 * time.Millisecond})
	body, feed := io.Pipe()
	defer func() { _ = feed.Close() }()
	req, err := http.NewRequest("PATCH", begin(t, addr), body)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(feed, "x") }()
	start := time.Now()
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close()
		if resp.StatusCode < 400 {
			t.Errorf("got %s", resp.Status)
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it was waited for, %v", took)
	}
}
