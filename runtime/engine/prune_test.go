package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// fakeEntry makes an entry of 100 bytes and its list, used some hours before noon.
func fakeEntry(t *testing.T, c *Cache, module string, hours int) {
	t.Helper()
	dir, err := c.create(module)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "image"), make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.publish(t.Context(), dir, module, 1); err != nil {
		t.Fatal(err)
	}
	used := noon.Add(-time.Duration(hours) * time.Hour)
	if err := os.Chtimes(c.path(module), used, used); err != nil {
		t.Fatal(err)
	}
}

func moduleName(i int) string { return strings.Repeat(fmt.Sprint(i), 64) }

func modulesOf(entries []CacheEntry) string {
	list := ""
	for _, e := range entries {
		list += e.Module[:1]
	}
	return list
}

func TestPrune(t *testing.T) {
	const all = 1 << 40
	tests := []struct {
		name     string
		maxBytes int64 // in entries
		maxAge   time.Duration
		removed  string
	}{
		{"everything may stay", all, 0, ""},
		{"nothing may stay", 0, 0, "4321"},
		{"two may stay", 2, 0, "43"},
		{"by age", all, 150 * time.Minute, "43"},
		{"by age, exactly", all, 3 * time.Hour, "4"},
		{"by both", 1, 150 * time.Minute, "432"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := OpenCache(t.TempDir())
			for i := 1; i <= 4; i++ {
				fakeEntry(t, c, moduleName(i), i)
			}
			entries, err := c.Entries()
			if err != nil || modulesOf(entries) != "4321" {
				t.Fatalf("entries %v, %v", entries, err)
			}
			maxBytes := test.maxBytes
			if maxBytes < 10 {
				maxBytes *= entries[0].Bytes
			}
			removed, err := c.Prune(maxBytes, test.maxAge, noon)
			if err != nil || modulesOf(removed) != test.removed {
				t.Errorf("removed %s, %v", modulesOf(removed), err)
			}
			left, err := c.Entries()
			if err != nil || len(left)+len(removed) != 4 {
				t.Errorf("left %s, %v", modulesOf(left), err)
			}
		})
	}
}

func TestEntries(t *testing.T) {
	c := OpenCache(t.TempDir())
	fakeEntry(t, c, moduleName(1), 1)
	other := OpenCache(c.dir)
	other.identity = "another engine"
	fakeEntry(t, other, moduleName(1), 2)
	for _, name := range []string{"notes.txt", "x" + temporary + "1", moduleName(2)} {
		if err := os.Mkdir(filepath.Join(c.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.storeFrozen(moduleName(1), []byte("12345")); err != nil {
		t.Fatal(err)
	}
	at := noon.Add(-time.Hour)
	os.Chtimes(c.path(moduleName(1)), at, at)
	entries, err := c.Entries()
	if err != nil || len(entries) != 3 {
		t.Fatalf("entries %+v, %v", entries, err)
	}
	one := entries[1]
	if !one.Current || !one.Frozen || !one.Used.Equal(at) || one.Module != moduleName(1) || one.Bytes < 105 || one.Bytes > 1000 {
		t.Errorf("entry %+v", one)
	}
	if old := entries[0]; old.Current || old.Frozen || old.Module != moduleName(1) {
		t.Errorf("entry of another engine %+v", old)
	}
	if older := entries[2]; older.Current || older.Module != moduleName(2) { // as earlier versions named them
		t.Errorf("entry %+v", older)
	}
	none, err := OpenCache(filepath.Join(c.dir, "absent")).Entries()
	if none != nil || err != nil {
		t.Errorf("%v, %v", none, err)
	}
}

// TestStaleFolders removes what processes left behind in the middle of a compilation, and
// in the middle of a removal, for any module.
func TestStaleFolders(t *testing.T) {
	c := OpenCache(t.TempDir())
	fakeEntry(t, c, moduleName(1), 1)
	old := []string{moduleName(2) + temporary + "12", filepath.Base(c.path(moduleName(3))) + temporary + "AB"}
	fresh := moduleName(4) + temporary + "34"
	for _, name := range append(old, fresh) {
		dir := filepath.Join(c.dir, name, "code")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range old {
		at := time.Now().Add(-staleAge - time.Minute)
		os.Chtimes(filepath.Join(c.dir, name), at, at)
	}
	if _, err := c.create(moduleName(5)); err != nil {
		t.Fatal(err)
	}
	for _, name := range old {
		if _, err := os.Stat(filepath.Join(c.dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range []string{fresh, filepath.Base(c.path(moduleName(1)))} {
		if _, err := os.Stat(filepath.Join(c.dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestUseIsRemembered(t *testing.T) {
	c := OpenCache(t.TempDir())
	fakeEntry(t, c, moduleName(1), 1)
	if _, err := c.find(t.Context(), moduleName(1)); err != nil {
		t.Fatal(err)
	}
	entries, err := c.Entries()
	if err != nil || time.Since(entries[0].Used) > time.Minute {
		t.Errorf("used %v, %v", entries[0].Used, err)
	}
}

// TestCacheIsKeptSmall calls modules for which the cache has room one at a time.
func TestCacheIsKeptSmall(t *testing.T) {
	p := NewPool(PoolOptions{CacheDir: t.TempDir(), CacheBytes: 1})
	defer p.Close()
	for _, name := range []string{"guests/echo", "guests/nested", "guests/status"} {
		m := guest(t, name)
		if err := p.Warm(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		mustBeWhole(t, p, m)
		mustHold(t, p.options.CacheDir, 1)
	}
}

// TestPrunedWhileInUse removes entries between the calls of a pool, and while they are
// loaded.
func TestPrunedWhileInUse(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	stop := make(chan struct{})
	cleaned := make(chan error)
	go func() {
		for {
			if _, err := OpenCache(p.options.CacheDir).Prune(0, 0, time.Now()); err != nil {
				cleaned <- err
				return
			}
			select {
			case <-stop:
				cleaned <- nil
				return
			default:
			}
		}
	}()
	for range 10 {
		q := NewPool(PoolOptions{CacheDir: p.options.CacheDir})
		mustInvoke(t, q, m, `{}`)
		q.Close()
	}
	close(stop)
	if err := <-cleaned; err != nil {
		t.Error(err)
	}
}

func TestForeignNames(t *testing.T) {
	c := OpenCache(t.TempDir())
	for _, module := range []string{"", "..", "../x", strings.Repeat("A", 64), strings.Repeat("a", 63) + "/"} {
		if _, err := c.find(t.Context(), module); err != errNoEntry {
			t.Errorf("%q: %v", module, err)
		}
	}
}
