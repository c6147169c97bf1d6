package runtime

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file has a version once its last change is a while ago, and any change ends it.
func TestVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	version := func() string {
		t.Helper()
		v, err := versioned{file}.Version()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := version(); v != "" {
		t.Errorf("a file that was just written is of version %q", v)
	}
	time.Sleep(settled + 100*time.Millisecond)
	first := version()
	if first == "" || version() != first {
		t.Fatalf("versions %q and %q", first, version())
	}
	before, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func() error{ // content of the same size, with the time set back
		func() error { return os.WriteFile(path, []byte("two"), 0o600) },
		func() error { return os.Chtimes(path, before.ModTime(), before.ModTime()) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if v := version(); v == first {
			t.Error("a change left the version as it was")
		}
	}
}
