package sandbox

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestLookPath(t *testing.T) {
	sh, err := filepath.Abs("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		env        []string
		dir        string
		err        error
	}{
		{"sh", sh, []string{"PATH=/none:/bin"}, "/", nil},
		{"sh", sh, []string{"PATH=/none", "PATH=/bin"}, "/", nil}, // the last counts, as for execve's callers
		{"sh", sh, []string{"PATH=bin"}, "/", nil},
		{"sh", "", []string{"PATH=/none"}, "/", exec.ErrNotFound},
		{"sh", "", nil, "/", exec.ErrNotFound},
		{"bin", "", []string{"PATH=/"}, "/", exec.ErrNotFound}, // a folder
		{"./sh", "./sh", nil, "/", nil},
	} {
		got, err := lookPath(c.name, c.env, c.dir)
		if got != c.want || err != c.err {
			t.Errorf("%s in %v: got %q, %v", c.name, c.env, got, err)
		}
	}
}
