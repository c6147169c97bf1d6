package oci

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aircoding/air/internal/canon"
)

// kill starts a child and ends it with SIGKILL once the channel says so, or reports that
// the child was through before.
func kill(t *testing.T, kind, ref, dir string, now <-chan struct{}) (killed bool) {
	t.Helper()
	cmd := runChild(t, kind, ref, dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	select {
	case <-now:
		killed = true
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the child hangs")
	}
	_ = cmd.Process.Kill()
	<-ended
	return killed
}

// Kill -9 while a pull writes, again and again: no pull believes what is half there, and
// what is there is not transferred again.
func TestPullKilledAtManyPoints(t *testing.T) {
	s := newServer(t)
	mustPush(t, plainClient(t), s.ref(":1"), large())
	dir, total := t.TempDir(), sizeOf(large())
	var sent atomic.Int64
	for kills := range int64(8) {
		stop := make(chan struct{}, 1)
		limit := total * (kills + 1) / 10
		s.sabotage(on(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/blobs/") }, func(w http.ResponseWriter, r *http.Request) {
			s.registry.ServeHTTP(&trickle{bodyMeter{w, nil, &sent}, r, limit, stop}, r)
		}))
		if !kill(t, "kill", s.ref(":1"), dir, stop) {
			t.Fatalf("the child was through after %d of %d bytes", sent.Load(), total)
		}
		wantWhole(t, dir)
	}
	s.sabotage(on(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/blobs/") }, func(w http.ResponseWriter, r *http.Request) {
		s.registry.ServeHTTP(&bodyMeter{w, nil, &sent}, r)
	}))
	got, err := newClient(t, Options{PlainHTTP: true, CacheDir: dir}).Pull(context.Background(), s.ref(":1"))
	if err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, large())
	wantWhole(t, dir)
	// What was on its way when the child died was sent and is lost.
	if sent.Load() > total*2 {
		t.Errorf("sent %d bytes for %d", sent.Load(), total)
	}
}

// Kill -9 while a load reads its archive and moves it into the cache, again and again:
// nothing of the archive stays but whole blobs, and the next load is through.
func TestLoadKilledAtManyPoints(t *testing.T) {
	plain := unzstd(t, mustSave(t, "", kept(t, large(), "", `{"a":1}`)))
	dir := t.TempDir()
	for kills := range 10 {
		cmd := runChild(t, "load", "", dir)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = in.Write(plain[:len(plain)*min(kills+1, 5)/5])
		if kills >= 4 {
			_ = in.Close()
			time.Sleep(time.Duration(kills-4) * 5 * time.Millisecond)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		wantWhole(t, dir)
		wantNoRest(t, dir)
	}
	wantBundle(t, mustLoad(t, plain, dir)[0].Pulled, large())
	wantWhole(t, dir)
	if left, _ := filepath.Glob(filepath.Join(dir, "sha256", "*.partial")); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

// ring tells, and does not wait for somebody to hear it.
func ring(bell chan<- struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// trickle sends a body slowly, and stops for good at a number of bytes of all bodies.
type trickle struct {
	bodyMeter
	request *http.Request
	limit   int64
	stop    chan struct{}
}

func (s *trickle) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		if s.sent.Load() >= s.limit {
			_ = http.NewResponseController(s.ResponseWriter).Flush()
			time.Sleep(20 * time.Millisecond) // for what was sent to arrive
			ring(s.stop)
			<-s.request.Context().Done()
			panic(http.ErrAbortHandler)
		}
		m, writeErr := s.bodyMeter.Write(p[:min(len(p), 64<<10)])
		n, p, err = n+m, p[m:], writeErr
	}
	return n, err
}

// Kill -9 at each request of a push that moves a tag: the tag names the old bundle or the
// new one, whole, and the push can be done again.
func TestPushKilledAtEachRequest(t *testing.T) {
	old := hello()
	old.Layers = append(old.Layers, bytesLayer("docs/old.md", []byte("old")))
	_, oldDigest, err := old.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	_, newDigest, err := big().Manifest()
	if err != nil {
		t.Fatal(err)
	}
	host := serveTest(t, ServeOptions{Dir: t.TempDir()})
	for at := int64(1); ; at++ {
		s := proxied(t, forward(&url.URL{Scheme: "http", Host: host}, false))
		direct := host + "/me/hello:" + canon.Digest([]byte{byte(at)})[7:20]
		mustPush(t, plainClient(t), direct, old)
		stop := make(chan struct{}, 1)
		var requests atomic.Int64
		s.sabotage(func(w http.ResponseWriter, r *http.Request) bool {
			switch n := requests.Add(1); {
			case n < at:
				return false
			case n == at && at%2 == 0: // done, and the answer is lost
				s.registry.ServeHTTP(&muted{http.Header{}}, r)
			}
			_, _ = io.Copy(io.Discard, r.Body) // or nobody sees the connection end
			ring(stop)
			<-r.Context().Done()
			return true
		})
		killed := kill(t, "push", s.ref(direct[strings.LastIndex(direct, ":"):]), t.TempDir(), stop)
		got, err := plainClient(t).Pull(context.Background(), direct)
		if err != nil {
			t.Fatalf("killed at request %d: %v", at, err)
		}
		if got.Digest != oldDigest && got.Digest != newDigest {
			t.Errorf("killed at request %d: the tag names %s", at, got.Digest)
		}
		if _, err := plainClient(t).Push(context.Background(), direct, big(), PushOptions{Force: true}); err != nil {
			t.Errorf("again after request %d: %v", at, err)
		}
		if !killed {
			if at < 5 {
				t.Errorf("the push made only %d requests", at-1)
			}
			return
		}
	}
}

// muted takes an answer that nobody will see.
type muted struct{ header http.Header }

func (m *muted) Header() http.Header         { return m.header }
func (m *muted) Write(p []byte) (int, error) { return len(p), nil }
func (m *muted) WriteHeader(int)             {}
