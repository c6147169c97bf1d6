package counter_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/aircoding/air/internal/counter"
)

// Adding counts, asking does not, and nobody's addition is lost.
func TestCounters(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "n")
	inMemory := counter.InMemory()
	for name, next := range map[string]func() counter.Counter{
		"in memory": func() counter.Counter { return inMemory },
		"in a file": func() counter.Counter { return counter.In(file) }, // as in a process of its own
	} {
		for i, add := range []int{0, 1, 0, 2, 0} {
			want := []int{0, 1, 1, 3, 3}[i]
			if got, err := next()(t.Context(), add); got != want || err != nil {
				t.Errorf("%s: adding %d: %d, %v, want %d", name, add, got, err, want)
			}
		}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := next()(t.Context(), 1); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got, err := next()(t.Context(), 0); got != 23 || err != nil {
			t.Errorf("%s: %d, %v, want 23", name, got, err)
		}
	}
}

func TestBrokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "n")
	pipe := file + ".pipe"
	if err := errors.Join(os.WriteFile(file, []byte("many"), 0o600), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, add := range []int{0, 1} {
		for _, broken := range []string{file, pipe} {
			if _, err := counter.In(broken)(t.Context(), add); err == nil || !strings.Contains(err.Error(), broken) {
				t.Errorf("adding %d: %v: a broken count is taken for none", add, err)
			}
		}
	}
}
