package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// machineCode returns the one file of machine code in a cache folder.
func machineCode(t *testing.T, dir string) string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && e.Name() != checksums {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) != 1 {
		t.Fatalf("files %v, %v", found, err)
	}
	return found[0]
}

func TestCacheHoldsOneFolderPerModule(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	mustInvoke(t, p, m, `{}`)
	entries, err := os.ReadDir(p.options.CacheDir)
	if err != nil || len(entries) != 1 || entries[0].Name() != m.SHA256 {
		t.Fatalf("cache holds %v, %v", entries, err)
	}
	if whole, err := isWhole(filepath.Join(p.options.CacheDir, m.SHA256)); !whole || err != nil {
		t.Fatalf("whole %v, %v", whole, err)
	}
}

// TestDamagedCache damages what is cached in ways that the engine notices and in ways
// that it does not.
func TestDamagedCache(t *testing.T) {
	damages := map[string]func(content []byte) []byte{
		"empty":           func([]byte) []byte { return nil },
		"cut":             func(b []byte) []byte { return b[:len(b)/2] },
		"longer":          func(b []byte) []byte { return append(b, b...) },
		"function offset": func(b []byte) []byte { b[24] ^= 0x55; return b },
		"machine code":    func(b []byte) []byte { b[len(b)/2] ^= 0xff; return b },
		"every byte":      func(b []byte) []byte { clear(b); return b },
	}
	m := guest(t, "guests/echo")
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			first := newPool(t)
			mustInvoke(t, first, m, `{}`)
			folder := filepath.Join(first.options.CacheDir, m.SHA256)
			file := machineCode(t, folder)
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, damage(content), 0o600); err != nil {
				t.Fatal(err)
			}
			second := NewPool(PoolOptions{CacheDir: first.options.CacheDir})
			defer second.Close()
			mustInvoke(t, second, m, `{}`)
			if whole, err := isWhole(folder); !whole || err != nil {
				t.Errorf("not mended: %v", err)
			}
		})
	}
}

// TestCachedCodeThatEndsTheWorker claims four billion functions, with checksums that are
// right.
func TestCachedCodeThatEndsTheWorker(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	mustInvoke(t, p, m, `{}`)
	folder := filepath.Join(p.options.CacheDir, m.SHA256)
	file := machineCode(t, folder)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := len("WAZEVO") + 1 + int(content[6])
	copy(content[at:], "\xff\xff\xff\xff")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := describe(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, checksums), list, 0o600); err != nil {
		t.Fatal(err)
	}
	second := NewPool(PoolOptions{CacheDir: p.options.CacheDir})
	defer second.Close()
	mustInvoke(t, second, m, `{}`)
	if mended, err := os.ReadFile(machineCode(t, folder)); err != nil || mended[at] == 0xff {
		t.Errorf("not mended: %v", err)
	}
}

// TestCancelledLoadKeepsTheCache stops a call before its worker is ready.
func TestCancelledLoadKeepsTheCache(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	mustInvoke(t, p, m, `{}`)
	second := NewPool(PoolOptions{CacheDir: p.options.CacheDir})
	second.argv = []string{subverted, "load stuck"}
	defer second.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := second.invoke(ctx, m, nil, &fakeHandler{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if whole, err := isWhole(filepath.Join(p.options.CacheDir, m.SHA256)); !whole {
		t.Errorf("the cache is gone: %v", err)
	}
	entries, err := os.ReadDir(p.options.CacheDir)
	if err != nil || len(entries) != 1 {
		t.Errorf("cache holds %v, %v", entries, err)
	}
}

func TestUnusableCacheFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := NewPool(PoolOptions{CacheDir: filepath.Join(file, "cache")})
	defer p.Close()
	mustInvoke(t, p, guest(t, "guests/echo"), `{}`)
}

// TestTwoCompileAtOnce stands for two processes: two pools share nothing but the folder.
func TestTwoCompileAtOnce(t *testing.T) {
	dir, m := t.TempDir(), guest(t, "guests/echo")
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			p := NewPool(PoolOptions{CacheDir: dir})
			defer p.Close()
			if _, err := invoke(t, p, m, `{}`); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("cache holds %v, %v", entries, err)
	}
}
