package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// An entry is decided as its path would be.
func TestEntryIsAsResolved(t *testing.T) {
	p := newPlace(t)
	for _, path := range []string{"a.txt", ".env", ".ENV.local", ".git/config", "sub/.Git/x", ".air/shared/project.json", "keys/id_rsa", p.air + "/keys/events.key",
		p.outside + "/x", p.outside + "/.env", p.home + "/.ssh/config", p.home + "/tools/git", p.artifacts + "/log/a.txt", p.artifacts + "/quarantine/a.json"} {
		p.put(path, "")
	}
	for _, pipe := range []string{p.root + "/pipe", p.outside + "/pipe"} {
		if err := unix.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	for _, top := range []string{p.root, p.outside, p.home} {
		err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.Type()&os.ModeSymlink != 0 {
				return err
			}
			seen++
			want := p.resolve(Read, path)
			if d.Type()&os.ModeNamedPipe != 0 {
				if want.Class != ClassForbidden {
					t.Errorf("%s may be opened", path)
				}
				want.Class = p.paths.classify(path, Read, 0)
			}
			got, err := p.paths.Entry(path)
			if err != nil || got != want {
				t.Errorf("%s: %+v %v, want %+v", path, got, err, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 30 {
		t.Errorf("only %d entries were compared", seen)
	}
	if _, err := p.paths.Entry("/" + strings.Repeat("x", 5000)); err == nil {
		t.Error("a path that is too long is an entry")
	}
}
