package fs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/rig"
)

type listOutput struct {
	Entries []struct {
		Path       string
		Type       string
		SizeBytes  *int64 `json:"size_bytes"`
		ModifiedAt string `json:"modified_at"`
		TargetPath string `json:"target_path"`
	}
	Truncated bool
}

func (l listOutput) paths() []string {
	paths := []string{}
	for _, e := range l.Entries {
		paths = append(paths, e.Path)
	}
	return paths
}

func TestList(t *testing.T) {
	r := rig.New(t, rig.Options{})
	for _, path := range []string{"a.go", "b.txt", "src/main.go", "src/deep/er/x.go", "src/.hidden/y.go", ".github/z.go", ".env", ".git/config", "src/.env.local"} {
		r.Put(path, path)
	}
	must(t, os.Symlink("src/main.go", filepath.Join(r.Root, "link")))
	must(t, os.Symlink(".", filepath.Join(r.Root, "src/loop")))
	for _, c := range []struct {
		name  string
		input object
		want  []string
	}{
		{"one folder", object{"path": "."}, []string{"a.go", "b.txt", "link", "src"}},
		{"below", object{"path": "src"}, []string{"src/deep", "src/loop", "src/main.go"}},
		{"absolute", object{"path": filepath.Join(r.Root, "src", "deep")}, []string{"src/deep/er"}},
		{"hidden, without what is denied", object{"path": ".", "include_hidden": true}, []string{".air", ".github", "a.go", "b.txt", "link", "src"}},
		{"recursive", object{"path": ".", "recursive": true}, []string{"a.go", "b.txt", "link", "src", "src/deep", "src/deep/er", "src/deep/er/x.go", "src/loop", "src/main.go"}},
		{"depth 1", object{"path": "src", "recursive": true, "max_depth": 1}, []string{"src/deep", "src/loop", "src/main.go"}},
		{"depth 2", object{"path": "src", "recursive": true, "max_depth": 2}, []string{"src/deep", "src/deep/er", "src/loop", "src/main.go"}},
		{"depth without recursive", object{"path": "src", "max_depth": 9}, []string{"src/deep", "src/loop", "src/main.go"}},
		{"glob on names", object{"path": ".", "recursive": true, "glob": "*.go"}, []string{"a.go", "src/deep/er/x.go", "src/main.go"}},
		{"glob on paths", object{"path": "src", "recursive": true, "glob": "deep/**/*.go"}, []string{"src/deep/er/x.go"}},
		{"glob, hidden", object{"path": ".", "recursive": true, "include_hidden": true, "glob": "*.go"}, []string{".github/z.go", "a.go", "src/.hidden/y.go", "src/deep/er/x.go", "src/main.go"}},
		{"recursive, hidden: nothing denied", object{"path": "src", "recursive": true, "include_hidden": true, "max_depth": 1}, []string{"src/.hidden", "src/deep", "src/loop", "src/main.go"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got listOutput
			r.Must("fs.list", c.input, &got)
			if !slices.Equal(got.paths(), c.want) || got.Truncated {
				t.Errorf("got  %v truncated %v\nwant %v", got.paths(), got.Truncated, c.want)
			}
		})
	}
}

func TestListEntries(t *testing.T) {
	r := rig.New(t, rig.Options{})
	file := r.Put("a.txt", "abc")
	must(t, os.Chtimes(file, time.Time{}, time.Date(2020, 2, 3, 4, 5, 6, 0, time.FixedZone("", 3600))))
	must(t, os.Symlink("a.txt", filepath.Join(r.Root, "link")))
	must(t, os.Symlink("round", filepath.Join(r.Root, "round")))
	must(t, os.Symlink("nowhere", filepath.Join(r.Root, "dangling")))
	must(t, os.Mkdir(filepath.Join(r.Root, "sub"), 0o755))
	var got listOutput
	r.Must("fs.list", object{"path": "."}, &got)
	if want := []string{"a.txt", "dangling", "link", "round", "sub"}; !slices.Equal(got.paths(), want) {
		t.Fatalf("%v", got.paths())
	}
	a, link, sub := got.Entries[0], got.Entries[2], got.Entries[4]
	if a.Type != "file" || *a.SizeBytes != 3 || a.ModifiedAt != "2020-02-03T03:05:06Z" {
		t.Errorf("%+v", a)
	}
	if link.Type != "symlink" || link.TargetPath != "a.txt" || link.SizeBytes != nil {
		t.Errorf("%+v", link)
	}
	if sub.Type != "directory" || sub.TargetPath != "" {
		t.Errorf("%+v", sub)
	}
}

func TestListRefuses(t *testing.T) {
	r := rig.New(t, rig.Options{})
	r.Put("a.txt", "")
	failed(t, r.Call("fs.list", object{"path": "none"}), fault.NotFound, "no_such_file")
	failed(t, r.Call("fs.list", object{"path": "a.txt"}), fault.InvalidInput, "not_a_directory")
	failed(t, r.Call("fs.list", object{"path": ".", "glob": "[a"}), fault.InvalidInput, "bad_glob")
	failed(t, r.Call("fs.list", object{"path": ".", "max_depth": 0}), fault.InvalidInput, "schema")
	failed(t, r.Call("fs.list", object{"path": ".git"}), fault.PermissionDenied, "protected_path")
}

// F18: braces that multiply are refused before anything is listed.
func TestF18ExponentialGlob(t *testing.T) {
	r := rig.New(t, rig.Options{})
	failed(t, r.Call("fs.list", object{"path": ".", "glob": strings.Repeat("{a,a}", 30)}), fault.InvalidInput, "bad_glob")
}

// F18: a huge folder is cut, and the result says so.
func TestF18ManyEntries(t *testing.T) {
	r := rig.New(t, rig.Options{})
	must(t, os.Mkdir(filepath.Join(r.Root, "many"), 0o755))
	file := r.Put("file", "")
	for i := range 10_001 { // names are quicker to make than files
		must(t, os.Link(file, filepath.Join(r.Root, "many", fmt.Sprintf("f%05d", i))))
	}
	var got listOutput
	r.Must("fs.list", object{"path": "many"}, &got)
	if len(got.Entries) != 10_000 || !got.Truncated || !slices.IsSorted(got.paths()) {
		t.Errorf("%d entries, truncated %v", len(got.Entries), got.Truncated)
	}
	must(t, os.Remove(filepath.Join(r.Root, "many", "f00000")))
	r.Must("fs.list", object{"path": "many"}, &got)
	if len(got.Entries) != 10_000 || got.Truncated {
		t.Errorf("%d entries, truncated %v", len(got.Entries), got.Truncated)
	}
	r.Must("fs.list", object{"path": "many", "glob": "f0999?"}, &got)
	if len(got.Entries) != 10 || got.Truncated {
		t.Errorf("%d entries, truncated %v", len(got.Entries), got.Truncated)
	}
}

// A bound that nobody asked for shows in truncated, one that was asked for does not.
func TestListDefaultDepth(t *testing.T) {
	r := rig.New(t, rig.Options{})
	r.Put(strings.Repeat("d/", 18)+"f", "")
	var got listOutput
	r.Must("fs.list", object{"path": ".", "recursive": true}, &got)
	if len(got.Entries) != 16 || !got.Truncated {
		t.Errorf("%d entries, truncated %v", len(got.Entries), got.Truncated)
	}
	r.Must("fs.list", object{"path": ".", "recursive": true, "max_depth": 16}, &got)
	if len(got.Entries) != 16 || got.Truncated {
		t.Errorf("%d entries, truncated %v", len(got.Entries), got.Truncated)
	}
	r.Must("fs.list", object{"path": ".", "recursive": true, "max_depth": 64}, &got)
	if len(got.Entries) != 19 || got.Truncated {
		t.Errorf("%d entries, truncated %v", len(got.Entries), got.Truncated)
	}
}

// A person who approved listing a folder outside with all below it approved that, and
// not what a rule denies.
func TestListOutsideApproved(t *testing.T) {
	r := rig.New(t, rig.Options{Approver: rig.Yes, Rules: "schema_version: 1\nrules:\n  - deny: read(/**/private/**)\n"})
	r.Put(filepath.Join(r.Outside, "sub", "a.txt"), "")
	r.Put(filepath.Join(r.Outside, "private", "b.txt"), "")
	var got listOutput
	r.Must("fs.list", object{"path": r.Outside, "recursive": true}, &got)
	want := []string{filepath.Join(r.Outside, "sub"), filepath.Join(r.Outside, "sub", "a.txt")}
	if !slices.Equal(got.paths(), want) || got.Truncated {
		t.Errorf("got %v truncated %v, want %v", got.paths(), got.Truncated, want)
	}
}
