package oci

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aircoding/air/internal/home"
)

func TestPullByTagAndDigest(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	pushed := mustPush(t, c, s.ref(":0.1.0"), hello())
	if pushed.Digest != goldenDigest || pushed.Existed || pushed.Reference != s.ref("@"+goldenDigest) {
		t.Errorf("got %+v", pushed)
	}
	for _, ref := range []string{s.ref(":0.1.0"), "oci://" + s.ref(":0.1.0"), pushed.Reference} {
		got, err := plainClient(t).Pull(context.Background(), ref)
		if err != nil {
			t.Fatal(err)
		}
		wantBundle(t, got, hello())
		if got.Reference != ref || got.Registry != s.host() || got.Repository != "me/hello" {
			t.Errorf("got %+v", got)
		}
		if want := map[bool]string{true: "", false: "0.1.0"}[strings.Contains(ref, "@")]; got.Tag != want {
			t.Errorf("%s: got tag %q, want %q", ref, got.Tag, want)
		}
	}
}

// A tag is resolved once; everything after that is asked for by digest, so that a tag
// that moves meanwhile cannot mix two bundles.
func TestTagIsResolvedOnce(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), hello())
	s.sabotage(nil)
	if _, err := c.Pull(context.Background(), s.ref(":1")); err != nil {
		t.Fatal(err)
	}
	if n := s.count("/manifests/"); n != 1 {
		t.Errorf("%d requests for manifests, want 1: %q", n, s.requests)
	}
	if n := s.count("/blobs/sha256:"); n != 3 {
		t.Errorf("%d requests for blobs, want 3 (the config is inlined): %q", n, s.requests)
	}
}

func TestCachedDigestMakesNoRequest(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	pushed := mustPush(t, c, s.ref(":1"), hello())
	if _, err := c.Pull(context.Background(), s.ref(":1")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	got, err := c.Pull(context.Background(), pushed.Reference)
	if err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, hello())
}

func TestTagAsksAgainButDownloadsNothing(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), hello())
	for range 2 {
		s.sabotage(nil)
		if _, err := c.Pull(context.Background(), s.ref(":1")); err != nil {
			t.Fatal(err)
		}
	}
	if s.count("/manifests/1") != 1 || s.count("/blobs/") != 0 {
		t.Errorf("second pull made %q", s.requests)
	}
}

// Config without inlined data, as another client may have pushed it.
func TestPullConfigAsBlob(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), hello())
	raw := strings.Replace(goldenManifest, `,"data":"eyJpZCI6ImhlbGxvIiwidmVyc2lvbiI6IjAuMS4wIn0="`, "", 1)
	put(t, s, "other", mediaTypeManifest, raw)
	got, err := plainClient(t).Pull(context.Background(), s.ref(":other"))
	if err != nil || string(got.Config) != string(hello().Config) {
		t.Errorf("got config %q, %v", got.Config, err)
	}
}

// put stores a manifest as any client could.
func put(t *testing.T, s *server, tag, mediaType, manifest string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL+"/v2/me/hello/manifests/"+tag, strings.NewReader(manifest))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", mediaType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("putting a manifest: %s", resp.Status)
	}
}

func TestChangedCacheIsNotBelieved(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	pushed := mustPush(t, c, s.ref(":1"), hello())
	got, err := c.Pull(context.Background(), pushed.Reference)
	if err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(c.options.CacheDir, "sha256", strings.TrimPrefix(pushed.Digest, "sha256:"))
	for _, path := range []string{got.Layers[0].Path, got.Layers[1].Path, manifest} {
		if err := os.WriteFile(path, []byte("\x00asm\x02\x00\x00\x00"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err = c.Pull(context.Background(), pushed.Reference); err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, hello())
	wantWhole(t, c.options.CacheDir)
}

// What a killed process left behind is overwritten, never used.
func TestPartialOfADeadProcess(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), hello())
	partial := cache{c.options.CacheDir}.partial(Descriptor{Digest: hello().Layers[0].Digest, Size: hello().Layers[0].Size})
	if err := os.MkdirAll(filepath.Dir(partial), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(partial, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := c.Pull(context.Background(), s.ref(":1"))
	if err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, hello())
	wantWhole(t, c.options.CacheDir)
}

func TestTwoPullsShareOneDownload(t *testing.T) {
	s := newServer(t)
	dir := filepath.Join(t.TempDir(), "plugins")
	mustPush(t, plainClient(t), s.ref(":1"), big())
	s.sabotage(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			time.Sleep(50 * time.Millisecond) // long enough for the others to want it too
		}
		return false
	})
	c := newClient(t, Options{PlainHTTP: true, CacheDir: dir})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, err := NewClient(c.options).Pull(context.Background(), s.ref(":1"))
			if err != nil {
				t.Error(err)
				return
			}
			wantBundle(t, got, big())
		})
	}
	wg.Wait()
	if n := s.count("/blobs/sha256:"); n != 3 {
		t.Errorf("%d downloads of 3 blobs", n)
	}
	wantWhole(t, dir)
}

func TestAtMostFourBlobsAtATime(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	a := hello()
	for _, title := range []string{"a", "b", "c", "d", "e", "f"} {
		a.Layers = append(a.Layers, bytesLayer("docs/"+title, []byte(title)))
	}
	mustPush(t, c, s.ref(":1"), a)
	var mu sync.Mutex
	now, most := 0, 0
	s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/blobs/") {
			return false
		}
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		return false
	})
	if _, err := c.Pull(context.Background(), s.ref(":1")); err != nil {
		t.Fatal(err)
	}
	if most != 4 {
		t.Errorf("%d downloads at once, want 4", most)
	}
}

func TestCancelLeavesNothing(t *testing.T) {
	s := newServer(t)
	mustPush(t, plainClient(t), s.ref(":1"), big())
	c := plainClient(t)
	ctx, cancel := context.WithCancel(context.Background())
	s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, big().Layers[0].Digest) {
			return false
		}
		_, _ = w.Write(make([]byte, 1000))
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
		return true
	})
	_, err := c.Pull(ctx, s.ref(":1"))
	wantError(t, err, KindCancelled, "")
	wantWhole(t, c.options.CacheDir)
}

func TestDeadlineWhileWaitingForAnotherPull(t *testing.T) {
	c := cache{t.TempDir()}
	d := Descriptor{Digest: goldenDigest, Size: 1}
	unlock, err := home.Lock(context.Background(), c.lockPath(filepath.Base(c.path(d.Digest))))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = c.ensure(ctx, d, func(*blobFile) error { t.Error("downloaded"); return nil })
	wantError(t, err, KindTimeout, "--timeout")
}

func TestPullLooksForRoomFirst(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	ref, err := ParseReference(s.ref(":1"))
	if err != nil {
		t.Fatal(err)
	}
	p := &pull{client: c, ref: ref, cache: cache{c.options.CacheDir}}
	_, err = p.layers(context.Background(), []Descriptor{{Digest: goldenDigest, Size: 1 << 62}, {Digest: "sha256:" + strings.Repeat("0", 64), Size: 1}})
	wantError(t, err, KindDiskFull, "make room")
	if len(s.requests) > 0 {
		t.Errorf("requests were made: %v", s.requests)
	}
	there := p.cache.path(goldenDigest)
	if err := os.MkdirAll(filepath.Dir(there), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.cache.room([]Descriptor{{Digest: goldenDigest, Size: 1 << 62}}); err != nil {
		t.Errorf("what is there already needs no room: %v", err)
	}
}

func TestPullNeedsAFolder(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), hello())
	c.options.CacheDir = ""
	_, err := c.Pull(context.Background(), s.ref(":1"))
	wantError(t, err, KindInvalid, "")
}

type recordedBar struct {
	mu     sync.Mutex
	total  int64
	last   int64
	closed bool
}

func (b *recordedBar) Set(n int64) { b.mu.Lock(); b.last = n; b.mu.Unlock() }
func (b *recordedBar) Close()      { b.mu.Lock(); b.closed = true; b.mu.Unlock() }

func TestProgress(t *testing.T) {
	s := newServer(t)
	var mu sync.Mutex
	bars := map[string]*recordedBar{}
	c := newClient(t, Options{PlainHTTP: true, Progress: func(total int64, title string) Bar {
		mu.Lock()
		defer mu.Unlock()
		bars[title] = &recordedBar{total: total}
		return bars[title]
	}})
	mustPush(t, c, s.ref(":1"), big())
	checkBars(t, bars, "module.wasm", "HELP.md", "schemas/greet.json", "capability.json")
	clear(bars)
	if _, err := c.Pull(context.Background(), s.ref(":1")); err != nil {
		t.Fatal(err)
	}
	checkBars(t, bars, "module.wasm", "HELP.md", "schemas/greet.json")
}

func checkBars(t *testing.T, bars map[string]*recordedBar, titles ...string) {
	t.Helper()
	if len(bars) != len(titles) {
		t.Errorf("%d bars, want %q", len(bars), titles)
	}
	for _, title := range titles {
		if b := bars[title]; b == nil || b.last != b.total || !b.closed {
			t.Errorf("bar %s: %+v", title, b)
		}
	}
}
