package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/engine/wazero"
)

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// entryOf returns the folder of a module's entry.
func entryOf(p *Pool, m Module) string { return p.cache.path(m.SHA256) }

// machineCode returns the one file of machine code in an entry.
func machineCode(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "code", "*", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("files %v, %v", found, err)
	}
	return found[0]
}

// mustBeWhole checks that an entry is there as it was published.
func mustBeWhole(t *testing.T, p *Pool, m Module) {
	t.Helper()
	if _, err := verify(t.Context(), entryOf(p, m), p.cache.identity); err != nil {
		t.Errorf("the entry is not whole: %v", err)
	}
}

// mustHold checks that a cache holds one entry and nothing temporary.
func mustHold(t *testing.T, dir string, entries int) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != entries {
		t.Errorf("cache holds %v, %v", all, err)
	}
}

// logged is a pool on a cache of another, with what it logs.
type logged struct {
	*Pool
	mu    sync.Mutex
	lines []string
}

func reopen(t testing.TB, dir string) *logged {
	l := &logged{}
	l.Pool = NewPool(PoolOptions{CacheDir: dir, Log: func(m string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, m)
	}})
	t.Cleanup(l.Close)
	return l
}

func (l *logged) said(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(strings.Join(l.lines, "\n"), text)
}

func TestCacheHoldsOneFolderPerModule(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	mustInvoke(t, p, m, `{}`)
	mustHold(t, p.options.CacheDir, 1)
	if !strings.HasPrefix(filepath.Base(entryOf(p, m)), m.SHA256+"-") {
		t.Errorf("entry %s", entryOf(p, m))
	}
	mustBeWhole(t, p, m)
	if _, err := os.Stat(filepath.Join(entryOf(p, m), wazero.FrozenFile)); err != nil {
		t.Error(err)
	}
}

// TestCachedModuleIsNotReadAgain removes the module after its entry was made.
func TestCachedModuleIsNotReadAgain(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	if err := p.Compile(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(m.Path); err != nil {
		t.Fatal(err)
	}
	mustInvoke(t, p, m, `{}`)
	m.Limits.MemoryBytes = hostabi.PageSize / 2
	_, err := invoke(t, p, m, `{}`)
	wantFault(t, err, fault.InvalidInput, "initial_memory")
}

// TestDamagedCache damages each file of an entry in ways that the engine notices and in
// ways that it does not.
func TestDamagedCache(t *testing.T) {
	damages := map[string]func(content []byte) []byte{
		"empty":  func([]byte) []byte { return nil },
		"cut":    func(b []byte) []byte { return b[:len(b)/2] },
		"longer": func(b []byte) []byte { return append(b, b...) },
		"first":  func(b []byte) []byte { b[0] ^= 1; return b },
		"middle": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"last":   func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"zeroed": func(b []byte) []byte { clear(b); return b },
	}
	files := map[string]func(dir string) string{
		"skeleton":  func(dir string) string { return filepath.Join(dir, "skeleton.wasm") },
		"image":     func(dir string) string { return filepath.Join(dir, "image") },
		"code":      func(dir string) string { return machineCode(t, dir) },
		"checksums": func(dir string) string { return filepath.Join(dir, checksums) },
		"frozen":    func(dir string) string { return filepath.Join(dir, wazero.FrozenFile) },
	}
	m := guest(t, "guests/echo")
	for file, path := range files {
		for name, damage := range damages {
			t.Run(file+" "+name, func(t *testing.T) {
				first := newPool(t)
				mustInvoke(t, first, m, `{}`)
				first.Close()
				mangle(t, path(entryOf(first, m)), damage)
				second := reopen(t, first.options.CacheDir)
				mustInvoke(t, second.Pool, m, `{}`)
				mustBeWhole(t, second.Pool, m)
				if !second.said("damaged") {
					t.Errorf("said %q", second.lines)
				}
				mustHold(t, first.options.CacheDir, 1)
			})
		}
	}
}

func mangle(t *testing.T, file string, damage func([]byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, damage(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOddEntry puts what no compiler leaves there into an entry.
func TestOddEntry(t *testing.T) {
	m := guest(t, "guests/echo")
	for name, spoil := range map[string]func(dir string) error{
		"link":         func(dir string) error { return os.Symlink("/dev/zero", filepath.Join(dir, "more")) },
		"pipe":         func(dir string) error { return unix.Mkfifo(filepath.Join(dir, "more"), 0o600) },
		"link to code": func(dir string) error { return os.Symlink(machineCode(t, dir), filepath.Join(dir, "more")) },
		"file":         func(dir string) error { return os.WriteFile(filepath.Join(dir, "more"), nil, 0o600) },
		"no image":     func(dir string) error { return os.Remove(filepath.Join(dir, "image")) },
		"sparse file": func(dir string) error {
			path := filepath.Join(dir, "code", "more")
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<42))
		},
		"sparse image":  func(dir string) error { return os.Truncate(filepath.Join(dir, "image"), 1<<42) },
		"sparse frozen": func(dir string) error { return os.Truncate(filepath.Join(dir, wazero.FrozenFile), 1<<42) },
		"sparse list":   func(dir string) error { return os.Truncate(filepath.Join(dir, checksums), 1<<42) },
		"folders":       func(dir string) error { return os.MkdirAll(filepath.Join(dir, strings.Repeat("a/", 100)), 0o700) },
		"frozen link": func(dir string) error {
			path := filepath.Join(dir, wazero.FrozenFile)
			return errors.Join(os.Remove(path), os.Symlink("/dev/zero", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			first := newPool(t)
			mustInvoke(t, first, m, `{}`)
			if err := spoil(entryOf(first, m)); err != nil {
				t.Fatal(err)
			}
			second := reopen(t, first.options.CacheDir)
			mustInvoke(t, second.Pool, m, `{}`)
			if !second.said("damaged") {
				t.Errorf("said %q", second.lines)
			}
		})
	}
}

// TestCachedCodeThatEndsTheWorker claims four billion functions, with checksums that are
// right.
func TestCachedCodeThatEndsTheWorker(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	mustInvoke(t, p, m, `{}`)
	folder := entryOf(p, m)
	file := machineCode(t, folder)
	at := 0
	mangle(t, file, func(content []byte) []byte {
		at = len("WAZEVO") + 1 + int(content[6])
		copy(content[at:], "\xff\xff\xff\xff")
		return content
	})
	republish(t, p, folder)
	second := reopen(t, p.options.CacheDir)
	mustInvoke(t, second.Pool, m, `{}`)
	if mended, err := os.ReadFile(machineCode(t, folder)); err != nil || mended[at] == 0xff {
		t.Errorf("not mended: %v", err)
	}
	if !second.said("of no use") {
		t.Errorf("said %q", second.lines)
	}
}

// TestEndedContextKeepsTheCache looks for an entry while nobody waits for it any more.
func TestEndedContextKeepsTheCache(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	mustInvoke(t, p, m, `{}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.cache.find(ctx, m.SHA256); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if err := p.Compile(ctx, m); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	mustBeWhole(t, p, m)
}

// TestOddCachePaths are those of a folder that means something to a pattern, and of one
// whose name is no text.
func TestOddCachePaths(t *testing.T) {
	for _, name := range []string{"[a]*?", `\`, "{a,b}", " ", "h\xff\xfe", "ü"} {
		dir := filepath.Join(t.TempDir(), name)
		p := reopen(t, dir)
		mustInvoke(t, p.Pool, guest(t, "guests/echo"), `{}`)
		p.Close()
		mustHold(t, dir, 1)
		p = reopen(t, dir)
		mustInvoke(t, p.Pool, guest(t, "guests/echo"), `{}`)
		if len(p.lines) > 0 {
			t.Errorf("%q: said %q", name, p.lines)
		}
	}
}

// TestCacheFolderThatVanishes has another process remove all of the cache each time that a
// worker starts.
func TestCacheFolderThatVanishes(t *testing.T) {
	m := guest(t, "guests/echo")
	for _, compiled := range []bool{false, true} {
		p := reopen(t, t.TempDir())
		if compiled {
			mustInvoke(t, p.Pool, m, `{}`)
			p = reopen(t, p.options.CacheDir)
		}
		p.spawn = func() (*process, error) {
			if err := os.RemoveAll(p.options.CacheDir); err != nil {
				t.Error(err)
			}
			return startProcess([]string{workerName})
		}
		mustInvoke(t, p.Pool, m, `{}`)
		if !p.said("without") {
			t.Errorf("said %q", p.lines)
		}
	}
}

// republish makes the checksums of a changed entry right.
func republish(t *testing.T, p *Pool, folder string) {
	t.Helper()
	list, err := describe(t.Context(), folder, p.cache.identity, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, checksums), list, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEntryOfAnotherModule gives a module the machine code of another one, with checksums
// that are right. wazero would compile the skeleton's empty bodies in its place.
func TestEntryOfAnotherModule(t *testing.T) {
	p, echo, nested := newPool(t), guest(t, "guests/echo"), guest(t, "guests/nested")
	mustInvoke(t, p, echo, `{}`)
	mustInvoke(t, p, nested, `{}`)
	code := machineCode(t, entryOf(p, echo))
	if err := os.Rename(code, filepath.Join(filepath.Dir(code), "other")); err != nil {
		t.Fatal(err)
	}
	republish(t, p, entryOf(p, echo))
	second := reopen(t, p.options.CacheDir)
	if got := mustInvoke(t, second.Pool, echo, `{}`); !strings.Contains(got, `"tool":"t.t"`) {
		t.Errorf("got %s", got)
	}
	if !second.said("of no use") {
		t.Errorf("said %q", second.lines)
	}
}

// TestCancelledLoadKeepsTheCache stops a call before its worker is ready.
func TestCancelledLoadKeepsTheCache(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	mustInvoke(t, p, m, `{}`)
	second := reopen(t, p.options.CacheDir)
	second.spawn = spawning(subverted, "load stuck")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := second.invoke(ctx, m, nil, &fakeHandler{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	mustBeWhole(t, p, m)
	mustHold(t, p.options.CacheDir, 1)
}

func TestUnusableCacheFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := reopen(t, filepath.Join(file, "cache"))
	mustInvoke(t, p.Pool, guest(t, "guests/echo"), `{}`)
	if !p.said("no compile cache") {
		t.Errorf("said %q", p.lines)
	}
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
	mustHold(t, dir, 1)
}

// TestCallsWaitForWhoCompiles has calls wait while another one makes the entry, and takes
// the module away before they go on.
func TestCallsWaitForWhoCompiles(t *testing.T) {
	p, m := newPool(t), guest(t, "guests/echo")
	m.Limits.ConcurrentCalls = 4
	lock := p.moduleLock(m.SHA256)
	lock <- struct{}{}
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			if _, err := invoke(t, p, m, `{}`); err != nil {
				t.Error(err)
			}
		})
	}
	other := reopen(t, p.options.CacheDir)
	if err := other.Compile(t.Context(), m); err != nil {
		t.Error(err)
	}
	if err := os.Remove(m.Path); err != nil {
		t.Error(err)
	}
	<-lock
	done.Wait()
}
