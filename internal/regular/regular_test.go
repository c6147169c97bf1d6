package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/aircoding/air/internal/regular"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(file, []byte("12345"), 0o600), os.Symlink("file", link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path   string
		limit  int64
		follow bool
		want   error
	}{
		{file, 5, false, nil},
		{file, 4, false, regular.ErrTooLarge},
		{link, 5, true, nil},
		{link, 5, false, regular.ErrNot},
		{dir, 5, true, regular.ErrNot},
		{pipe, 5, true, regular.ErrNot},
		{"/dev/zero", 5, true, regular.ErrNot},
		{filepath.Join(dir, "none"), 5, true, fs.ErrNotExist},
		{"/proc/self/status", 10, true, regular.ErrTooLarge}, // its size is said to be 0
	} {
		got, err := regular.Read(c.path, c.limit, c.follow)
		if !errors.Is(err, c.want) || c.want == nil && string(got) != "12345" || c.want != nil && got != nil {
			t.Errorf("%s to %d, follow %v: got %q, %v, want %v", c.path, c.limit, c.follow, got, err, c.want)
		}
	}
}
