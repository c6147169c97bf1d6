package progress

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8"
)

// Without a terminal nothing animates, and callers need not ask.
func TestNothingIsDrawnWithoutATerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := New(f)
	bar := d.Bar(10, "module.wasm")
	bar.Set(5)
	bar.Close()
	d.Close()
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%d bytes were drawn, %v", info.Size(), err)
	}
}

type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func TestBar(t *testing.T) {
	var s screen
	d := newDisplay(&s, mpb.WithAutoRefresh(), mpb.WithRefreshRate(time.Millisecond))
	bar := d.Bar(2048, "docs/"+strings.Repeat("long-", 20)+"end.md")
	bar.Set(1024)
	time.Sleep(50 * time.Millisecond)
	bar.Set(512) // another try
	bar.Set(2048)
	bar.Close()
	d.Close()
	for _, part := range []string{"…", "long-end.md", "1.0 KiB / 2.0 KiB", "2.0 KiB / 2.0 KiB"} {
		if !strings.Contains(s.text.String(), part) {
			t.Errorf("%q is not in %q", part, s.text.String())
		}
	}
	if strings.Contains(s.text.String(), "docs/") {
		t.Error("a long title is not shortened")
	}
}

// A transfer that failed ends its bar, or the display would never close.
func TestClosedBarEndsTheDisplay(t *testing.T) {
	var s screen
	d := newDisplay(&s, mpb.WithAutoRefresh())
	for _, total := range []int64{0, 10} {
		bar := d.Bar(total, "x")
		bar.Set(3)
		bar.Close()
		bar.Close()
	}
	done := make(chan struct{})
	go func() { d.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Error("the display does not close")
	}
}
