package fs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aircoding/air/internal/rig"
)

func TestStat(t *testing.T) {
	r := rig.New(t, rig.Options{})
	file := r.Put("sub/a.txt", "abc")
	must(t, os.Chtimes(file, time.Time{}, time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)))
	must(t, os.Symlink("sub/a.txt", filepath.Join(r.Root, "link")))
	must(t, os.Symlink("sub", filepath.Join(r.Root, "folder")))
	must(t, os.Symlink("nothing", filepath.Join(r.Root, "dangling")))
	for _, c := range []struct {
		path, shown, real, kind string
		exists                  bool
	}{
		{"sub/a.txt", "sub/a.txt", "sub/a.txt", "file", true},
		{file, "sub/a.txt", "sub/a.txt", "file", true},
		{"sub/", "sub", "sub", "directory", true},
		{".", ".", ".", "directory", true},
		{"link", "link", "sub/a.txt", "symlink", true},
		{"folder", "folder", "sub", "symlink", true},
		{"folder/", "sub", "sub", "directory", true},
		{"folder/a.txt", "sub/a.txt", "sub/a.txt", "file", true},
		{"dangling", "dangling", "", "symlink", true},
		{"none", "none", "", "", false},
		{"none/below", "none/below", "", "", false},
		{"sub/a.txt/below", "sub/a.txt/below", "", "", false},
		{"/usr", "/usr", "/usr", "directory", true},
	} {
		var got struct {
			Path, RealPath, Type string
			Exists               bool
			SizeBytes            *int64 `json:"size_bytes"`
			ModifiedAt           string `json:"modified_at"`
		}
		r.Must("fs.stat", object{"path": c.path}, &got)
		if got.Path != c.shown || got.RealPath != c.real || got.Type != c.kind || got.Exists != c.exists {
			t.Errorf("%s: %+v", c.path, got)
		}
		if c.kind == "file" && (*got.SizeBytes != 3 || got.ModifiedAt != "2020-02-03T04:05:06Z") {
			t.Errorf("%s: %d bytes, %s", c.path, *got.SizeBytes, got.ModifiedAt)
		}
	}
}
