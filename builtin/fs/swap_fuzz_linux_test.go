package fs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/rig"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/session"
)

// FuzzPathsUnderASwapper: whatever the path, while folders and files change places with
// links out of the project and onto protected files, nothing of those comes out and none
// is written. Any question is answered as insideOnly does.
func FuzzPathsUnderASwapper(f *testing.F) {
	for _, seed := range []string{
		"dir/f", "f", "dir/../f", "dir/new/deep", "link", "file", "dir/hooks/pre-commit", "out/secret.txt", "dir/./f", "file/..", "dir/sub/../../.env",
		"DIR/F", ".GIT/hooks/x", "dir//f", "dir/f/", "\xff", "missing/../.env",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	plenty := runtime.Budgets{Session: session.Usage{Calls: 1 << 40, BytesOut: 1 << 40, Wall: 1 << 60}}
	r := rig.New(f, rig.Options{Approver: insideOnly, Budgets: plenty})
	outside, env, hook := r.Put(filepath.Join(r.Outside, "secret.txt"), secret), r.Put(".env", secret), r.Put(".git/hooks/pre-commit", secret)
	r.Put("dir/f", "harmless")
	r.Put("dir/sub/f", "harmless")
	r.Put("f", "harmless")
	for link, target := range map[string]string{"out": r.Outside, "link": ".git/hooks", "file": ".env", "away": outside} {
		if err := os.Symlink(target, filepath.Join(r.Root, link)); err != nil {
			f.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(r.Root, name) }
	f.Fuzz(func(t *testing.T, path string, write bool) {
		r := *r
		r.TB = t
		for _, pair := range [][2]string{{"dir", "link"}, {"dir", "out"}, {"f", "file"}, {"f", "away"}} {
			stop := swap(t, in(pair[0]), in(pair[1]))
			for range 8 {
				tool, input := "fs.read", object{"path": path}
				if write {
					tool, input = "fs.write", object{"path": path, "content": "harmless", "create_parent_dirs": true}
				}
				if text, _ := json.Marshal(r.Call(tool, input)); strings.Contains(string(text), secret) {
					stop()
					t.Fatalf("%s %q: the secret came out: %s", tool, path, text)
				}
			}
			stop()
		}
		for _, place := range []string{outside, env, hook} {
			if content(t, place) != secret {
				t.Fatalf("%q: %s was written", path, place)
			}
		}
	})
}
