package main

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/aircoding/air/internal/home"
)

// What a killed air left of an installation from git goes with the next one, and what a
// living one uses stays.
func TestFetchedIsRemovedAfterACrash(t *testing.T) {
	h := home.Home{Dir: t.TempDir()}
	l, err := net.Listen("tcp", "127.0.0.1:0") // it takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "install", "git:https://"+l.Addr().String()+"/x")
	c.Env = append(os.Environ(), "AIR_TEST_MAIN=1", "AIR_HOME="+h.Dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	living, remove, err := fetchFolder(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	if got := folders(t, h); len(got) != 2 {
		t.Fatalf("there are %q, want one of the child and one of ours", got)
	}
	_ = c.Process.Kill() // it may have ended by itself
	_ = c.Wait()         // killed
	_ = accepted.Close() // ends its git
	deadline := time.Now().Add(10 * time.Second)
	for got := []string{"", ""}; len(got) > 1; got = folders(t, h) {
		if time.Now().After(deadline) {
			t.Fatalf("there are still %q", got)
		}
		_, again, err := fetchFolder(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		if err := again(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(living); err != nil {
		t.Errorf("a folder in use is gone: %v", err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(living); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if locks, _ := filepath.Glob(h.Path("cache", "git", "run-*")); len(locks) > 0 {
		t.Errorf("there are still %q", locks)
	}
}

func folders(t *testing.T, h home.Home) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(h.Path("cache", "git"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, e.Name())
		}
	}
	return all
}
