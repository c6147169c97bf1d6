package secret

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
)

var ctx = context.Background()

func newStore(t *testing.T) *Store {
	t.Helper()
	return Open(filepath.Join(t.TempDir(), "air", "secrets"))
}

func set(t *testing.T, s *Store, name, value string) {
	t.Helper()
	if err := s.Set(ctx, name, value); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func code(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}

func TestSetAndUse(t *testing.T) {
	s := newStore(t)
	for _, value := range []string{"one\ntwo\x00", strings.Repeat("x", 64<<10)} { // the second replaces the first
		set(t, s, "api-key_1", value)
		if got, err := s.Value("api-key_1"); err != nil || got != value {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	}
	for path, want := range map[string]os.FileMode{s.dir: 0o700, filepath.Join(s.dir, "api-key_1"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestNames(t *testing.T) {
	s := newStore(t)
	for _, name := range []string{"", "A", "-a", "_a", ".lock", "a/b", "../a", "a b", "ä", "a\n", "a.", strings.Repeat("a", 65)} {
		if err := s.Set(ctx, name, "value"); code(err) != "bad_name" {
			t.Errorf("Set(%q): %v", name, err)
		}
		if _, err := s.Value(name); code(err) != "bad_name" {
			t.Errorf("Value(%q): %v", name, err)
		}
		if err := s.Remove(ctx, name); code(err) != "bad_name" {
			t.Errorf("Remove(%q): %v", name, err)
		}
	}
	for _, name := range []string{"0", "a", "a_-", strings.Repeat("a", 64)} {
		set(t, s, name, "value")
	}
	if names, err := s.Names(); err != nil || !slices.Equal(names, []string{"0", "a", "a_-", strings.Repeat("a", 64)}) {
		t.Errorf("got %q, %v", names, err)
	}
}

func TestSizes(t *testing.T) {
	s := newStore(t)
	for _, value := range []string{"", strings.Repeat("x", 64<<10+1)} {
		if err := s.Set(ctx, "a", value); code(err) != "bad_secret" {
			t.Errorf("%d bytes: %v", len(value), err)
		}
	}
	if names, err := s.Names(); err != nil || len(names) > 0 {
		t.Errorf("got %q, %v", names, err)
	}
}

func TestRemove(t *testing.T) {
	s := newStore(t)
	if err := s.Remove(ctx, "a"); code(err) != "unknown_secret" {
		t.Errorf("got %v", err)
	}
	set(t, s, "a", "value")
	if err := s.Remove(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Value("a"); code(err) != "unknown_secret" {
		t.Errorf("got %v", err)
	}
}

// The value that a killed writer left behind goes with the next change.
func TestLeftBehind(t *testing.T) {
	s := newStore(t)
	left := s.path(".tmp-1234")
	for name, change := range map[string]func() error{
		"set":     func() error { return s.Set(ctx, "a", "value") },
		"remove":  func() error { return s.Remove(ctx, "a") },
		"unknown": func() error { _ = s.Remove(ctx, "none"); return nil },
	} {
		set(t, s, "a", "value")
		if err := os.WriteFile(left, []byte("old value"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s leaves it: %v", name, err)
		}
	}
}

func TestWhatOthersReachIsRefused(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, s *Store){
		"folder readable": func(t *testing.T, s *Store) { chmod(t, s.dir, 0o755) },
		"folder writable": func(t *testing.T, s *Store) { chmod(t, s.dir, 0o720) },
		"file readable":   func(t *testing.T, s *Store) { chmod(t, s.path("a"), 0o604) },
		"file of a group": func(t *testing.T, s *Store) { chmod(t, s.path("a"), 0o640) },
		"link": func(t *testing.T, s *Store) {
			if err := os.Rename(s.path("a"), s.path("b")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(s.path("b"), s.path("a")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			set(t, s, "a", "value")
			open(t, s)
			if got, err := s.Value("a"); code(err) != "secrets_not_private" || got != "" {
				t.Errorf("got %q, %v", got, err)
			}
			if name == "link" {
				return
			}
			if values, err := s.Values(); err != nil || !slices.Equal(values, []string{"value"}) {
				t.Errorf("what is known to others is kept out of logs too: %q, %v", values, err)
			}
			if all, err := s.List(); err != nil || len(all) != 1 || all[0].Problem == "" {
				t.Errorf("got %+v, %v", all, err)
			}
		})
	}
}

func TestSetNeedsAPrivateFolder(t *testing.T) {
	s := newStore(t)
	set(t, s, "a", "value")
	chmod(t, s.dir, 0o750)
	if err := s.Set(ctx, "b", "value"); code(err) != "secrets_not_private" {
		t.Errorf("got %v", err)
	}
	chmod(t, s.dir, 0o700)
	chmod(t, s.path("a"), 0o644)
	set(t, s, "a", "new")
	if got, err := s.Value("a"); err != nil || got != "new" {
		t.Errorf("setting it again: %q, %v", got, err)
	}
}

func TestListShowsNoValues(t *testing.T) {
	s := newStore(t)
	if all, err := s.List(); err != nil || len(all) != 0 {
		t.Errorf("nothing there yet: %v, %v", all, err)
	}
	set(t, s, "b", "value-b")
	set(t, s, "a", "value-a")
	all, err := s.List()
	if err != nil || len(all) != 2 || all[0].Name != "a" || all[1].Name != "b" || time.Since(all[0].Changed).Abs() > time.Minute || all[0].Problem != "" {
		t.Errorf("got %+v, %v", all, err)
	}
	values, err := s.Values()
	slices.Sort(values)
	if err != nil || !slices.Equal(values, []string{"value-a", "value-b"}) {
		t.Errorf("got %q, %v", values, err)
	}
}

func TestTooMany(t *testing.T) {
	s := newStore(t)
	set(t, s, "first", "value")
	for i := range maxSecrets - 1 {
		name := s.path("s" + strings.Repeat("0", i/26) + string(rune('a'+i%26)))
		if err := os.WriteFile(name, []byte("value"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Set(ctx, "one-more", "value"); code(err) != "too_many_secrets" {
		t.Errorf("got %v", err)
	}
	set(t, s, "first", "changed")
}

func TestConcurrentSets(t *testing.T) {
	s := newStore(t)
	var group sync.WaitGroup
	for _, value := range []string{"aaaa", "bbbb", "cccc", "dddd"} {
		group.Go(func() {
			if err := s.Set(ctx, "a", value); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got, err := s.Value("a"); err != nil || len(got) != 4 || strings.Count(got, got[:1]) != 4 {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestZeroStore(t *testing.T) {
	var s Store
	if values, err := s.Values(); err != nil || len(values) > 0 {
		t.Errorf("got %q, %v", values, err)
	}
	if err := s.Set(ctx, "a", "value"); code(err) != "no_secrets" {
		t.Errorf("got %v", err)
	}
	if _, err := s.Value("a"); code(err) != "unknown_secret" {
		t.Errorf("got %v", err)
	}
	if err := s.Remove(ctx, "a"); code(err) != "unknown_secret" {
		t.Errorf("got %v", err)
	}
}
