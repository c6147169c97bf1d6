package oci

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aircoding/air/internal/home"
)

// large is a bundle of 12 MiB in 6 layers of random bytes.
func large() Artifact {
	source := rand.NewChaCha8([32]byte{7})
	a := hello()
	a.Layers = nil
	for i := range 6 {
		content := make([]byte, 2<<20)
		_, _ = source.Read(content)
		title := "module.wasm"
		if i > 0 {
			title = fmt.Sprintf("assets/%d", i)
		}
		a.Layers = append(a.Layers, bytesLayer(title, content))
	}
	return a
}

func sizeOf(a Artifact) (total int64) {
	for _, l := range a.Layers {
		total += l.Size
	}
	return total
}

// blobsKept is how many bytes of layers a cache holds, whole and partial.
func blobsKept(t *testing.T, dir string) (kept int64) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "sha256"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Size() > 10_000 { // not the manifest
			kept += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// The network is cut at 40 % of a pull. The next pull transfers the rest and no more; the
// bytes are counted where the registry sends them.
func TestCutNetworkAndOnlyTheRest(t *testing.T) {
	everyRegistry(t, func(t *testing.T, s *server) {
		c := plainClient(t)
		mustPush(t, c, s.ref(":1"), large())
		total := sizeOf(large())
		var left, sent atomic.Int64
		left.Store(total * 4 / 10)
		blobs := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/blobs/") }
		s.sabotage(on(blobs, func(w http.ResponseWriter, r *http.Request) {
			if left.Load() <= 0 {
				panic(http.ErrAbortHandler)
			}
			s.registry.ServeHTTP(&bodyMeter{w, &left, &sent}, r)
		}))
		_, err := c.Pull(context.Background(), s.ref(":1"))
		wantError(t, err, KindUnreachable, "continues where it stopped")
		wantWhole(t, c.options.CacheDir)
		kept := blobsKept(t, c.options.CacheDir)
		if kept < total*3/10 || kept > total*4/10 {
			t.Errorf("kept %d bytes of the %d that were sent", kept, sent.Load())
		}
		sent.Store(0)
		s.sabotage(on(blobs, func(w http.ResponseWriter, r *http.Request) { s.registry.ServeHTTP(&bodyMeter{w, nil, &sent}, r) }))
		got, err := c.Pull(context.Background(), s.ref(":1"))
		if err != nil {
			t.Fatal(err)
		}
		wantBundle(t, got, large())
		if sent.Load() != total-kept {
			t.Errorf("the second pull transferred %d bytes, want the rest, %d", sent.Load(), total-kept)
		}
	})
}

// A connection that breaks again and again is fine as long as it leads on.
func TestPullOverABadLine(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	a := hello()
	a.Layers[0] = bytesLayer("module.wasm", bytes.Repeat([]byte("0123456789abcdef"), 1<<20)) // 16 MiB
	mustPush(t, c, s.ref(":1"), a)
	part := a.Layers[0].Digest
	s.sabotage(on(func(r *http.Request) bool { return strings.Contains(r.URL.Path, part) }, cutting(s.registry, 2<<20)))
	got, err := c.Pull(context.Background(), s.ref(":1"))
	if err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, a)
	if n := s.count(part); n < 8 || n > 20 {
		t.Errorf("%d requests for 16 MiB in pieces of 2 MiB", n)
	}
}

// What counts as a continuation, of a blob of which half is there.
func TestOnlyAMatchingAnswerContinues(t *testing.T) {
	module := big().Layers[0]
	content, err := readWhole(module)
	if err != nil {
		t.Fatal(err)
	}
	half, size := len(content)/2, len(content)
	part := func(status int, contentRange string, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if status == 206 && r.Header.Get("Range") == "" {
				_, _ = w.Write(content)
				return
			}
			if contentRange != "" {
				w.Header().Set("Content-Range", contentRange)
			}
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			w.WriteHeader(status)
			_, _ = w.Write(body)
		}
	}
	rest := fmt.Sprintf("bytes %d-%d/%d", half, size-1, size)
	for _, c := range []struct {
		name     string
		partial  []byte
		answer   http.HandlerFunc
		requests int
	}{
		{"the rest", content[:half], part(206, rest, content[half:]), 1},
		{"the rest of unknown size", content[:half], part(206, fmt.Sprintf("bytes %d-%d/*", half, size-1), content[half:]), 1},
		{"all of it", content[:half], part(200, "", content), 1},
		{"another range", content[:half], part(206, fmt.Sprintf("bytes 0-%d/%d", size-1, size), content), 2},
		{"no range", content[:half], part(206, "", content[half:]), 2},
		{"another size", content[:half], part(206, fmt.Sprintf("bytes %d-%d/%d", half, size-1, size+1), content[half:]), 2},
		{"wrong bytes in the partial", make([]byte, half), part(206, rest, content[half:]), 2},
		{"wrong bytes in the answer", content[:half], part(206, rest, make([]byte, size-half)), 2},
		{"a partial that is whole", content, part(500, "", nil), 0},
		{"a partial of the right size and wrong", make([]byte, size), part(200, "", content), 1},
		{"a partial that is too long", append(bytes.Clone(content), 'x'), part(200, "", content), 1},
		{"an empty partial", nil, part(200, "", content), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, client := newServer(t), plainClient(t)
			mustPush(t, client, s.ref(":1"), big())
			leavePartial(t, client, module.Digest, module.Size, c.partial)
			s.sabotage(on(blob, c.answer))
			got, err := client.Pull(context.Background(), s.ref(":1"))
			if err != nil {
				t.Fatal(err)
			}
			wantBundle(t, got, big())
			if n := s.count(module.Digest); n != c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
			if left, _ := filepath.Glob(filepath.Join(client.options.CacheDir, "sha256", "*"+partialSuffix)); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

func leavePartial(t *testing.T, c *Client, digest string, size int64, content []byte) string {
	t.Helper()
	path := cache{c.options.CacheDir}.partial(Descriptor{Digest: digest, Size: size})
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Bytes that stay wrong from zero on are not kept and not asked for a third time.
func TestWrongBytesAreNotKept(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), big())
	module := big().Layers[0]
	path := leavePartial(t, c, module.Digest, module.Size, make([]byte, 1000))
	s.sabotage(on(blob, func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Range")
		send(module.Size, true)(w, r)
	}))
	_, err := c.Pull(context.Background(), s.ref(":1"))
	wantError(t, err, KindIntegrity, "do not use")
	if _, err := os.Stat(path); err == nil {
		t.Error("wrong bytes were kept")
	}
	if n := s.count(module.Digest); n > 2 {
		t.Errorf("%d requests", n)
	}
}

// What a deadline, or the person, stopped is continued.
func TestStoppedPullIsContinued(t *testing.T) {
	for name, stop := range map[string]func() (context.Context, context.CancelFunc){
		"deadline": func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 300*time.Millisecond)
		},
		"cancel": func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(300*time.Millisecond, cancel)
			return ctx, cancel
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := newServer(t), plainClient(t)
			mustPush(t, c, s.ref(":1"), big())
			s.sabotage(on(blob, func(w http.ResponseWriter, r *http.Request) {
				module, err := readWhole(big().Layers[0])
				if err != nil {
					t.Error(err)
				}
				w.Header().Set("Content-Length", fmt.Sprint(len(module)))
				_, _ = w.Write(module[:100_000])
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}))
			ctx, cancel := stop()
			defer cancel()
			if _, err := c.Pull(ctx, s.ref(":1")); err == nil {
				t.Fatal("the pull succeeded")
			}
			var sent atomic.Int64
			s.sabotage(on(blob, func(w http.ResponseWriter, r *http.Request) { s.registry.ServeHTTP(&bodyMeter{w, nil, &sent}, r) }))
			got, err := c.Pull(context.Background(), s.ref(":1"))
			if err != nil {
				t.Fatal(err)
			}
			wantBundle(t, got, big())
			if want := big().Layers[0].Size - 100_000; sent.Load() != want {
				t.Errorf("transferred %d bytes, want %d", sent.Load(), want)
			}
		})
	}
}

func TestPulledSaysWhetherTheRegistryWasAsked(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	pushed := mustPush(t, c, s.ref(":1"), hello())
	for i, want := range []bool{true, false} {
		got, err := c.Pull(context.Background(), pushed.Reference)
		if err != nil || got.Contacted != want {
			t.Errorf("pull %d: contacted %v, %v", i, got.Contacted, err)
		}
	}
}

func TestPruneDownloads(t *testing.T) {
	c := plainClient(t)
	dir := c.options.CacheDir
	old, busy, young := hello().Layers[0].Digest, hello().Layers[1].Digest, hello().Layers[2].Digest
	past := time.Now().Add(-48 * time.Hour)
	for _, digest := range []string{old, busy, young} {
		path := leavePartial(t, c, digest, 1000, make([]byte, 1000))
		if digest != young {
			if err := os.Chtimes(path, past, past); err != nil {
				t.Fatal(err)
			}
		}
	}
	whole, err := cache{dir}.ensure(context.Background(), Descriptor{Digest: goldenDigest, Size: int64(len(goldenManifest))}, func(f *blobFile) error {
		_, err := io.WriteString(f, goldenManifest)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(whole, past, past); err != nil {
		t.Fatal(err)
	}
	unlock, err := home.Lock(context.Background(), cache{dir}.lockPath(strings.TrimPrefix(busy, "sha256:")))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	freed, err := PruneDownloads(context.Background(), dir, 24*time.Hour)
	if err != nil || freed != 1000+int64(len(goldenManifest)) {
		t.Errorf("freed %d, %v", freed, err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "sha256", "*"))
	if len(left) != 2 {
		t.Errorf("left %q", left)
	}
	if freed, err := PruneDownloads(context.Background(), t.TempDir(), 0); freed != 0 || err != nil {
		t.Errorf("of an empty cache: %d, %v", freed, err)
	}
}
