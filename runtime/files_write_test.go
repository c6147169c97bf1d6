package runtime

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func opened(t *testing.T, dir string) *os.File {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	return folder
}

// F11: a temporary name that is there already, as a link or as anything, is not used.
func TestF11TemporaryNameIsALink(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	for name, err := range map[string]error{
		"link":     os.Symlink(victim, filepath.Join(dir, "link")),
		"dangling": os.Symlink("nowhere", filepath.Join(dir, "dangling")),
		"file":     os.WriteFile(filepath.Join(dir, "file"), []byte("old"), 0o600),
		"pipe":     unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
		"victim":   os.WriteFile(victim, []byte("old"), 0o600),
	} {
		if err != nil {
			t.Fatal(name, err)
		}
	}
	folder := opened(t, dir)
	for _, name := range []string{"link", "dangling", "file", "pipe"} {
		if _, err := openTemporary(folder, name, 0o600); err != unix.EEXIST {
			t.Errorf("%s: %v", name, err)
		}
	}
	temp, err := openTemporary(folder, "free", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := temp.fill([]byte("new"), nil, AsItWas); err != nil {
		t.Fatal(err)
	}
	temp.drop()
	if b, err := os.ReadFile(victim); err != nil || string(b) != "old" {
		t.Errorf("the victim holds %q %v", b, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 4 {
		t.Errorf("%v", entries)
	}
}

func TestTemporaryNamesDiffer(t *testing.T) {
	a, b := temporaryName(), temporaryName()
	if a == b || !temporaryPattern.MatchString(a) {
		t.Errorf("%s %s", a, b)
	}
}

// Where the file system has no locks, a temporary file is used without one.
func TestSwept(t *testing.T) {
	dir := t.TempDir()
	temp, err := openTemporary(opened(t, dir), "temp", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer temp.drop()
	for locked, want := range map[error]bool{nil: false, unix.EWOULDBLOCK: true, unix.ENOLCK: false, unix.ENOSYS: false, unix.EOPNOTSUPP: false} {
		if got := temp.swept(locked); got != want {
			t.Errorf("%v: swept is %v", locked, got)
		}
	}
	if err := os.Remove(filepath.Join(dir, "temp")); err != nil {
		t.Fatal(err)
	}
	if !temp.swept(nil) || !temp.swept(unix.ENOLCK) {
		t.Error("a file that was removed is used")
	}
}

// A sweep removes what a dead writer left and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	folder := opened(t, dir)
	alive, err := newTemporary(folder, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.drop()
	put := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(".air-tmp-0123456789abcdef")
	for _, name := range []string{".air-tmp-notes", ".air-tmp-0123456789ABCDEF", ".air-tmp-0123456789abcdef0", "x.air-tmp-0123456789abcdef"} {
		put(name)
	}
	if err := os.Symlink("x", filepath.Join(dir, ".air-tmp-1111111111111111")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, ".air-tmp-2222222222222222"), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep(folder)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 7 {
		t.Errorf("%d entries are left: %v %v", len(entries), entries, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".air-tmp-0123456789abcdef")); err == nil {
		t.Error("the leftover is still there")
	}
	if _, err := os.Lstat(filepath.Join(dir, alive.name)); err != nil {
		t.Error("a file that is being written was removed")
	}
}

// Both ways of opening a path refuse a link at any place in it.
func TestOpenRefusesLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "real", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "real", "sub", "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "real", "real/f": "sub/f", "absolute": filepath.Join(dir, "real")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, open := range map[string]func(string, int) (int, error){"canonical": openCanonical, "walk": walkCanonical} {
		for path, want := range map[string]bool{
			"real/sub/f": true, "link/sub/f": false, "real/f": false, "absolute/sub/f": false, "real/sub/none": false, "real/sub/f/x": false,
		} {
			fd, err := open(filepath.Join(dir, path), unix.O_RDONLY|safeFlags)
			if (err == nil) != want {
				t.Errorf("%s %s: %v", name, path, err)
			}
			if err == nil {
				_ = unix.Close(fd)
			}
		}
		fd, err := open("/", folderFlags)
		if err != nil {
			t.Errorf("%s /: %v", name, err)
		}
		_ = unix.Close(fd)
	}
}

// A name that appeared meanwhile is not replaced by a file that was to be new.
func TestRenameNew(t *testing.T) {
	dir := t.TempDir()
	folder := opened(t, dir)
	for name, rename := range map[string]func(*os.File, string, string) error{"rename": renameNew, "link": linkNew} {
		for _, file := range []string{"from", "taken"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := rename(folder, "from", "taken"); err != unix.EEXIST {
			t.Errorf("%s: %v", name, err)
		}
		if b, _ := os.ReadFile(filepath.Join(dir, "taken")); string(b) != "taken" {
			t.Errorf("%s: replaced", name)
		}
		if err := rename(folder, "from", name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "from")); err == nil {
			t.Errorf("%s: the old name is still there", name)
		}
	}
}
