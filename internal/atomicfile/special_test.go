package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aircoding/air/internal/atomicfile"
)

// What is no file is refused where a person names it, and so is a link to such a thing.
func TestDevicesAndPipesAreNoTarget(t *testing.T) {
	dir := t.TempDir()
	pipe, link, null := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "null")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink("pipe", link), os.Symlink("/dev/null", null)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link, null} {
		before, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.CheckTarget(path); !errors.Is(err, atomicfile.ErrSpecial) {
			t.Errorf("%s: got %v", path, err)
		}
		if after, err := os.Lstat(path); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s is %v now, %v", path, after.Mode(), err)
		}
	}
	if got := temporary(t, dir); len(got) != 0 {
		t.Errorf("left %q", got)
	}
}

// In a person's folder only what a killed writer of the same file left goes.
func TestRemoveStaleOf(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("n", 255))
	if err := atomicfile.Write(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".tmp-" + strings.Repeat("n", 200) + "-1", ".tmp-other-2"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	backdate(t, dir)
	if err := atomicfile.RemoveStaleOf(path, time.Minute); err != nil {
		t.Fatal(err)
	}
	if got := temporary(t, dir); len(got) != 1 || filepath.Base(got[0]) != ".tmp-other-2" {
		t.Errorf("left %q", got)
	}
}
