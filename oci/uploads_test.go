package oci

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
)

// breakOff sends half of what it says, and leaves.
func breakOff(t *testing.T, addr, upload, header string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(upload, "http://"+addr)
	_, err = fmt.Fprintf(c, "PATCH %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: 200000\r\n\r\n%s", path, header, strings.Repeat("z", 100_000))
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until the folder of uploads has n of them.
func waitFor(t *testing.T, dir string, n int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		left, err := os.ReadDir(filepath.Join(dir, "uploads"))
		if err == nil && len(left) == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d uploads, want %d, %v", len(left), n, err)
		}
	}
}

// A push that breaks off takes its bytes along; a chunk of a client that goes on stays,
// and the client learns where it stands.
func TestBrokenOffUploads(t *testing.T) {
	dir := t.TempDir()
	addr := serveTest(t, ServeOptions{Dir: dir, Quota: 1 << 20})
	for range 20 {
		breakOff(t, addr, begin(t, addr), "")
		waitFor(t, dir, 0)
	}
	mustPush(t, plainClient(t), addr+"/me/hello:1", hello())
	upload := begin(t, addr)
	breakOff(t, addr, upload, "Content-Range: 0-199999\r\n")
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		resp, _ := ask(t, "GET", upload)
		if resp.Header.Get("Range") == "0-99999" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %s, %v", resp.Status, resp.Header)
		}
	}
}

// age makes the uploads in a registry's folder look as old as that.
func age(t *testing.T, dir string, by time.Duration) {
	t.Helper()
	for _, path := range tree(t, filepath.Join(dir, "uploads")) {
		if err := os.Chtimes(path, time.Now().Add(-by), time.Now().Add(-by)); err != nil {
			t.Fatal(err)
		}
	}
}

func beginUpload(t *testing.T, s *dirStore, text string) ociregistry.BlobWriter {
	t.Helper()
	w, err := s.PushBlobChunked(t.Context(), "a", 0)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Uploads that nobody goes on with make room where it is needed, and go in any case
// after a while. Those that somebody writes to stay.
func TestIdleUploadsGo(t *testing.T) {
	s := newStore(t)
	s.meter.limit = 100_000
	idle, held := beginUpload(t, s, strings.Repeat("i", 40_000)), beginUpload(t, s, strings.Repeat("h", 40_000))
	if err := idle.Close(); err != nil {
		t.Fatal(err)
	}
	push := func() error {
		_, err := s.PushBlob(t.Context(), "a", ociregistry.Descriptor{Digest: digestOf(make([]byte, 20_000)), Size: 20_000}, strings.NewReader(string(make([]byte, 20_000))))
		return err
	}
	var full *fullError
	if err := push(); !errors.As(err, &full) {
		t.Errorf("an upload of this minute gave way: %v", err)
	}
	age(t, s.dir, 2*idleUpload)
	if err := push(); err != nil {
		t.Error(err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, s.dir, 1)
	age(t, s.dir, 2*staleUpload)
	s.swept = time.Time{}
	if err := beginUpload(t, s, "").Cancel(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, s.dir, 0)
	wantRecounted(t, s)
}

// wantRecounted checks that a store counts what a fresh start would count.
func wantRecounted(t *testing.T, s *dirStore) {
	t.Helper()
	again, err := newDirStore(t.Context(), s.dir, defaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	if s.meter.used != again.meter.used {
		t.Errorf("counts %d, a fresh start counts %d", s.meter.used, again.meter.used)
	}
}

// An upload belongs to the repository that it began in.
func TestUploadsBelongToTheirRepository(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	upload := begin(t, addr) // in x
	other := strings.Replace(upload, "/v2/x/", "/v2/y/", 1)
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		if code, body := request(t, method, other, nil); code != http.StatusNotFound || !strings.Contains(body, "BLOB_UPLOAD_UNKNOWN") {
			t.Errorf("%s: got %d %s", method, code, body)
		}
	}
	whole := "?digest=" + string(digestOf([]byte("{}")))
	if code, _ := request(t, "PUT", other+whole, nil); code != http.StatusNotFound {
		t.Errorf("finishing: got %d", code)
	}
	if code, _ := request(t, "PUT", upload+whole, nil); code != http.StatusCreated {
		t.Errorf("in its own: got %d", code)
	}
}
