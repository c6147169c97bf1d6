package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aircoding/air/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "file")
	for _, c := range []struct {
		text string
		mode os.FileMode
	}{{"one", 0o600}, {"two", 0o644}, {"", 0o755}} {
		if err := atomicfile.Write(path, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != c.mode || read(t, path) != c.text {
			t.Errorf("%+v: mode %v, %v", c, info.Mode(), err)
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", info.Mode(), err)
	}
	onlyFile(t, path)
}

func TestFailedFillLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := atomicfile.Write(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the source broke")
	err := atomicfile.WriteFrom(path, 0o600, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return broken
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "writing "+path) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	if read(t, path) != "old" {
		t.Error("the old file is gone")
	}
	onlyFile(t, path)
}

func TestFolderInTheWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder")
	if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, nil, 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	onlyFile(t, path)
}

func TestALinkIsReplacedNotFollowed(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() || read(t, target) != "kept" {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// A reader sees the content of one writer, whole, at any time.
func TestReadersSeeWholeFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := atomicfile.Write(path, []byte(strings.Repeat("0", 1<<16)), 0o600); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	done := make(chan struct{})
	for i := range 3 {
		writers.Go(func() {
			for range 20 {
				if err := atomicfile.Write(path, []byte(strings.Repeat(fmt.Sprint(i), 1<<16)), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { writers.Wait(); close(done) }()
	for {
		text := read(t, path)
		if len(text) != 1<<16 || strings.Count(text, text[:1]) != len(text) {
			t.Fatalf("read %d bytes, not all of one writer", len(text))
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

const childVariable = "ATOMICFILE_TEST_PATH"

// TestKilledWriter runs itself as the writer that is killed half way.
func TestKilledWriter(t *testing.T) {
	if path := os.Getenv(childVariable); path != "" {
		writeHalfAndWait(path)
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := atomicfile.Write(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	child := startChild(t, path)
	backdate(t, dir)
	clean(t, dir)
	if got := temporary(t, dir); len(got) != 1 {
		t.Errorf("temporary files of a living writer: %v", got)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed, and says so
	if got := read(t, path); got != "old" {
		t.Errorf("after the kill: %q", got)
	}
	young := filepath.Join(dir, ".tmp-young")
	if err := os.WriteFile(young, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	clean(t, dir)
	if got := temporary(t, dir); len(got) != 1 || got[0] != young {
		t.Errorf("after cleaning: %v", got)
	}
	if err := atomicfile.Write(path, []byte("new"), 0o600); err != nil || read(t, path) != "new" {
		t.Errorf("the next write: %v", err)
	}
}

func writeHalfAndWait(path string) {
	_ = atomicfile.WriteFrom(path, 0o600, func(w io.Writer) error {
		_, _ = w.Write([]byte("half of the ne"))
		_, _ = os.Stdout.WriteString("half\n")
		time.Sleep(time.Minute)
		return nil
	})
}

func startChild(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestKilledWriter$")
	child.Env = append(os.Environ(), childVariable+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	return child
}

func TestRemoveStaleOfAMissingFolder(t *testing.T) {
	clean(t, filepath.Join(t.TempDir(), "none"))
}

func clean(t *testing.T, dir string) {
	t.Helper()
	if err := atomicfile.RemoveStale(dir, time.Minute); err != nil {
		t.Error(err)
	}
}

// A folder loses what was left there long ago by writing to it.
func TestWriteSweeps(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{".tmp-old": 61 * time.Minute, ".tmp-young": 59 * time.Minute, "other": 61 * time.Minute} {
		path, at := filepath.Join(dir, name), time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := atomicfile.Write(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 || entries[0].Name() != ".tmp-young" {
		t.Errorf("in the folder: %v, %v", entries, err)
	}
}

func backdate(t *testing.T, dir string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	for _, path := range temporary(t, dir) {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

func temporary(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".tmp-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("in the folder: %v, %v", entries, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
