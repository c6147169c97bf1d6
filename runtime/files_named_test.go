package runtime

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// F5 and F6: a hard link to a protected file is opened and then replaced, so that fstat
// sees a file with one name.
func TestF6HardLinkReplacedWhileOpened(t *testing.T) {
	folder := opened(t, t.TempDir())
	dir := folder.Name()
	protected, name, aside := filepath.Join(dir, ".env"), filepath.Join(dir, "name"), filepath.Join(dir, "aside")
	steps := func(all ...error) {
		t.Helper()
		if err := errors.Join(all...); err != nil {
			t.Fatal(err)
		}
	}
	steps(os.WriteFile(protected, nil, 0o600), os.Link(protected, name), os.WriteFile(aside, nil, 0o600))
	file := mustOpen(t, folder, "name")
	two, err := file.Stat()
	steps(err, stillNamed(folder, file, name, two), sameByName(folder, name, two))

	steps(os.Rename(aside, name))
	one, err := file.Stat()
	steps(err)
	replaced := func(when string) {
		t.Helper()
		for how, err := range map[string]error{"": stillNamed(folder, file, name, one), "by name": sameByName(folder, name, one)} {
			if !errors.Is(err, unix.ELOOP) {
				t.Errorf("%s: %s %v", when, how, err)
			}
		}
	}
	replaced("replaced")
	steps(os.Link(protected, aside), os.Rename(aside, name))
	replaced("replaced twice")
	steps(os.Remove(name))
	if stillNamed(folder, file, name, one) == nil || sameByName(folder, name, one) == nil {
		t.Error("a file that was removed passes")
	}
}

func mustOpen(t *testing.T, folder *os.File, name string) *os.File {
	t.Helper()
	fd, err := openIn(folder, name, unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), name)
	t.Cleanup(func() { _ = file.Close() })
	return file
}
