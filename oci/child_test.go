package oci

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Some things belong to a whole process: its limits, its proxies, its death. These
// tests run themselves again as a child, which pulls or pushes AIR_TEST_REF.
const childVar = "AIR_TEST_CHILD"

func runChild(t *testing.T, kind, ref, dir string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), append(env, "TMPDIR="+t.TempDir(), childVar+"="+kind, "AIR_TEST_REF="+ref, "AIR_TEST_DIR="+dir)...)
	return cmd
}

func TestChild(t *testing.T) {
	kind := os.Getenv(childVar)
	if kind == "" {
		return // started by go test, not by a test
	}
	c := newClient(t, Options{PlainHTTP: true, CacheDir: os.Getenv("AIR_TEST_DIR")})
	if kind == "full disk" {
		// The limit answers EFBIG where a full disk answers ENOSPC, and the signal
		// that would come first is ignored.
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	err := childsWork(c, kind, os.Getenv("AIR_TEST_REF"))
	var e *Error
	if errors.As(err, &e) {
		fmt.Printf("result: %s hint: %s error: %v\n", e.Kind, e.Hint, err)
		return
	}
	fmt.Printf("result: ok %v\n", err)
}

func childsWork(c *Client, kind, ref string) error {
	if kind == "push" {
		_, err := c.Push(context.Background(), ref, big(), PushOptions{Force: true, Compress: os.Getenv("AIR_TEST_COMPRESS")})
		return err
	}
	if kind == "load" {
		_, err := Load(context.Background(), os.Stdin, os.Getenv("AIR_TEST_DIR"))
		return err
	}
	_, err := c.Pull(context.Background(), ref)
	return err
}

func TestFullDisk(t *testing.T) {
	s := newServer(t)
	mustPush(t, plainClient(t), s.ref(":1"), big())
	dir := t.TempDir()
	out, err := runChild(t, "full disk", s.ref(":1"), dir).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "result: disk_full hint: make room") {
		t.Errorf("got %s, %v", out, err)
	}
	wantWhole(t, dir)
	if s.count("/blobs/"+big().Layers[0].Digest) > 3 {
		t.Errorf("tried again on a full disk: %q", s.requests)
	}
}

// The kernel's other answers for a disk without room mean the same.
func TestErrorsOfAFullDisk(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		err := during("pulling", "x", &fs.PathError{Op: "write", Path: "/x", Err: errno})
		wantError(t, err, KindDiskFull, "make room")
	}
}

func TestProxyFromTheEnvironment(t *testing.T) {
	s := newServer(t)
	mustPush(t, plainClient(t), s.ref(":1"), hello())
	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Host+r.URL.Path)
		mu.Unlock()
		r.URL.Host, r.Host = s.host(), s.host()
		s.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	out, err := runChild(t, "proxy", "registry.example.com/me/hello:1", t.TempDir(), "HTTP_PROXY="+proxy.URL, "NO_PROXY=").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "result: ok") {
		t.Fatalf("got %s, %v", out, err)
	}
	proxy.Close() // asked is complete
	if len(asked) < 5 || asked[0] != "registry.example.com/v2/" {
		t.Errorf("the proxy was asked for %q", asked)
	}
}

// A killed pull leaves no lock and nothing that a later pull would believe.
func TestKilledPull(t *testing.T) {
	s := newServer(t)
	mustPush(t, plainClient(t), s.ref(":1"), big())
	half := make(chan struct{}, 10)
	s.sabotage(on(blob, func(w http.ResponseWriter, r *http.Request) {
		half <- struct{}{}
		hangInBody(w, r)
	}))
	dir := t.TempDir()
	cmd := runChild(t, "kill", s.ref(":1"), dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-half
	time.Sleep(50 * time.Millisecond)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if left, err := filepath.Glob(filepath.Join(dir, "sha256", "*.partial")); err != nil || len(left) == 0 {
		t.Errorf("the child was not killed in its download: %q, %v", left, err)
	}
	s.sabotage(nil)
	got, err := newClient(t, Options{PlainHTTP: true, CacheDir: dir}).Pull(context.Background(), s.ref(":1"))
	if err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, big())
	wantWhole(t, dir)
}
