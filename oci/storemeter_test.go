package oci

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"cuelabs.dev/go/oci/ociregistry"
)

func atOnce(n int, do func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() { <-start; do(i) })
	}
	close(start)
	all.Wait()
}

// What several push and delete at one time counts once.
func TestMeterUnderConcurrency(t *testing.T) {
	s := newStore(t)
	ctx := t.Context()
	manifest := []byte(`{"schemaVersion":2,"x":"` + strings.Repeat("y", 100_000) + `"}`)
	blob := bytes.Repeat([]byte("b"), 100_000)
	for range 2 {
		var failed error
		var mu sync.Mutex
		atOnce(16, func(i int) {
			_, err := s.PushManifest(ctx, "a/b", fmt.Sprint("t", i%4), manifest, "application/x")
			_ = s.DeleteTag(ctx, "a/b", "t1") // somebody else may have
			_, blobErr := s.PushBlob(ctx, "a/b", ociregistry.Descriptor{Digest: digestOf(blob), Size: int64(len(blob))}, bytes.NewReader(blob))
			mu.Lock()
			failed = errors.Join(failed, err, blobErr)
			mu.Unlock()
		})
		if failed != nil {
			t.Fatal(failed)
		}
		wantRecounted(t, s)
		if err := errors.Join(s.DeleteManifest(ctx, "a/b", digestOf(manifest)), s.DeleteBlob(ctx, "a/b", digestOf(blob))); err != nil {
			t.Fatal(err)
		}
	}
}

// Folders count as files do, and those that have lost theirs go at the next start.
func TestFoldersCount(t *testing.T) {
	s := newStore(t)
	ctx := context.Background()
	base := pushBlob(t, s, "base")
	before, parts := s.meter.used, 100
	for i := range 5 {
		name := fmt.Sprintf("n%d", i) + strings.Repeat("/a", parts-1)
		if _, err := s.MountBlob(ctx, "a/b", name, base); err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteBlob(ctx, name, base); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := s.meter.used-before, int64(5*(parts+1)*entryCost); got != want { // with _blobs
		t.Errorf("the folders count %d, want %d", got, want)
	}
	again, err := newDirStore(t.Context(), s.dir, defaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	if again.meter.used != before {
		t.Errorf("after a start %d are used, want %d", again.meter.used, before)
	}
	left, err := os.ReadDir(filepath.Join(s.dir, "repositories"))
	if err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
	again.meter.limit = before + int64(parts)*entryCost
	var full *fullError
	if _, err := again.MountBlob(ctx, "a/b", "n"+strings.Repeat("/a", parts), base); !errors.As(err, &full) {
		t.Errorf("folders beyond the quota: got %v", err)
	}
}

// G16: a manifest of a few megabytes that would take a hundred times as much is refused
// before it is decoded, wherever its values are.
func TestManifestsOfAMillionValues(t *testing.T) {
	addr := serveTest(t, ServeOptions{})
	for name, text := range map[string]string{
		"layers":      `{"schemaVersion":2,"layers":[` + strings.TrimSuffix(strings.Repeat("{},", 1_300_000), ",") + `]}`,
		"subject":     `{"schemaVersion":2,"subject":{"urls":[` + strings.TrimSuffix(strings.Repeat(`"",`, 1_300_000), ",") + `]}}`,
		"annotations": `{"schemaVersion":2,"x":[` + strings.TrimSuffix(strings.Repeat("1,", 2_000_000), ",") + `]}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		code, body := request(t, "PUT", "http://"+addr+"/v2/x/manifests/1", func(r *http.Request) {
			r.Header.Set("Content-Type", mediaTypeManifest)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		})
		runtime.ReadMemStats(&after)
		if code != http.StatusBadRequest || !strings.Contains(body, "MANIFEST_INVALID") {
			t.Errorf("%s: got %d %.300s", name, code, body)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
			t.Errorf("%s: %d bytes for %d", name, used, len(text))
		}
	}
}

// A start that is no longer wanted ends.
func TestStartStops(t *testing.T) {
	s := newStore(t)
	pushImage(t, s, "v1", "one")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newDirStore(ctx, s.dir, defaultQuota); err == nil {
		t.Error("it was tidied to its end")
	}
}
