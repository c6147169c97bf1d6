package fs_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
)

const crashDir = "AIR_TEST_CRASH_DIR"

// TestCrashChild is what TestKilledWhileWriting kills.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		return
	}
	r := rig.New(t, rig.Options{Dir: dir, Approver: rig.Yes})
	for _, letter := range strings.Repeat("ab", 1000) {
		r.Must("fs.write", object{"path": "f", "content": strings.Repeat(string(letter), 1<<20)}, nil)
	}
}

// A writer that is killed leaves the old or the new file, and what else it leaves the
// next write removes.
func TestKilledWhileWriting(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "project", "f")
	for range 4 {
		child := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
		child.Env = append(os.Environ(), crashDir+"="+dir)
		started := time.Now()
		must(t, child.Start())
		waitForWrite(t, file, started)
		time.Sleep(rand.N(60 * time.Millisecond))
		must(t, child.Process.Kill())
		_ = child.Wait() // it was killed
		text := content(t, file)
		if len(text) != 1<<20 || strings.Count(text, text[:1]) != len(text) {
			t.Fatalf("half a file: %d bytes", len(text))
		}
	}
	r := rig.New(t, rig.Options{Dir: dir})
	r.Must("fs.write", object{"path": "other", "content": "x"}, nil)
	clean(t, r.Root)
}

// waitForWrite waits until the file has been written since.
func waitForWrite(t *testing.T, path string, since time.Time) {
	t.Helper()
	for range 2000 {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(since) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s is not written", path)
}

// A full disk is an error that says so, and the file is as it was.
func TestDiskFull(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes})
	small := filepath.Join(r.Root, "small")
	must(t, os.Mkdir(small, 0o755))
	mountSmall(t, small)
	r.Put("small/a.txt", "old")
	large := strings.Repeat("x", 1<<20)
	for _, input := range []object{
		{"path": "small/a.txt", "content": large},
		{"path": "small/new.txt", "content": large},
		{"path": "small/d/e/new.txt", "content": large, "create_parent_dirs": true},
	} {
		e := r.Call("fs.write", input)
		failed(t, e, fault.ResourceExhausted, "disk_full")
		if len(e.Artifacts) > 0 {
			t.Errorf("artifacts %v", e.Artifacts)
		}
	}
	if entries, err := os.ReadDir(small); err != nil || len(entries) != 1 || content(t, filepath.Join(small, "a.txt")) != "old" {
		t.Errorf("%v %v", entries, err)
	}
}
