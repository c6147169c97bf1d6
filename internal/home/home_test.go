package home_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
)

func TestLocate(t *testing.T) {
	for _, c := range []struct{ home, airHome, want, code string }{
		{"/home/ann", "", "/home/ann/.air", ""},
		{"/home/ann/", "/data/air/", "/data/air", ""},
		{"", "/data/air", "/data/air", ""},
		{"", "", "", "no_home"},
		{"ann", "", "", "no_home"},
		{"/home/ann", "air", "", "relative_home"},
		{"/home/ann", "./air", "", "relative_home"},
	} {
		h, err := home.Locate(env(map[string]string{"HOME": c.home, "AIR_HOME": c.airHome}))
		if h.Dir != c.want || code(err) != c.code {
			t.Errorf("HOME=%q AIR_HOME=%q: got %q, %v", c.home, c.airHome, h.Dir, err)
		}
	}
}

func TestLocateCreatesNothing(t *testing.T) {
	p := newPerson(t)
	if _, err := os.Stat(p.air.Dir); !os.IsNotExist(err) {
		t.Errorf("stat: %v", err)
	}
}

func TestMkdirAllIsPrivate(t *testing.T) {
	p := newPerson(t)
	dir, err := p.air.MkdirAll("cache", "wasm")
	if err != nil || dir != filepath.Join(p.dir, ".air", "cache", "wasm") {
		t.Fatal(dir, err)
	}
	for _, path := range []string{p.air.Dir, p.air.Path("cache"), dir} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
}

func TestLockExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks", "one.lock")
	var inside, entered atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			unlock, err := home.Lock(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			if inside.Add(1) != 1 {
				t.Error("two have the lock")
			}
			time.Sleep(time.Millisecond)
			inside.Add(-1)
			entered.Add(1)
		})
	}
	group.Wait()
	if entered.Load() != 8 {
		t.Errorf("%d of 8 got it", entered.Load())
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestLockStopsWaiting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.lock")
	unlock, err := home.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := home.Lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	unlock()
	again, err := home.Lock(t.Context(), path) // the one that gave up must not keep it
	if err != nil {
		t.Fatal(err)
	}
	again()
	if _, err := home.Lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a lock for whom time was up: %v", err)
	}
}

// TestLockEndsWithItsProcess also shows that it holds across processes.
func TestLockEndsWithItsProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.lock")
	if os.Getenv("HOME_TEST_LOCK") != "" {
		if _, err := home.Lock(t.Context(), os.Getenv("HOME_TEST_LOCK")); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stdout.WriteString("locked\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestLockEndsWithItsProcess$")
	child.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "HOME_TEST_LOCK="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		if unlock, err := home.Lock(t.Context(), path); err != nil {
			t.Error(err)
		} else {
			unlock()
		}
	}()
	select {
	case <-taken:
		t.Error("a lock that another process holds was given out")
	case <-time.After(50 * time.Millisecond):
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed, and says so
	select {
	case <-taken:
	case <-time.After(10 * time.Second):
		t.Error("the lock outlived its process")
	}
}

// person is a home folder with ~/.air in it, and a folder for projects beside it.
type person struct {
	dir, work string
	air       home.Home
}

func newPerson(t *testing.T) person {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := person{dir: filepath.Join(base, "home"), work: filepath.Join(base, "work")}
	mkdir(t, p.dir)
	mkdir(t, p.work)
	p.air, err = home.Locate(env(map[string]string{"HOME": p.dir}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return fault.From(err).Code
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func contains(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}

func TestTryLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "lock")
	unlock, free, err := home.TryLock(path)
	if err != nil || !free {
		t.Fatal(free, err)
	}
	if _, free, err := home.TryLock(path); err != nil || free {
		t.Errorf("two have the lock: %v, %v", free, err)
	}
	unlock()
	again, free, err := home.TryLock(path)
	if err != nil || !free {
		t.Fatal(free, err)
	}
	again()
}
