package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenThatFailsLeavesNothingOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if _, err := Open(path, `CREATE NONSENSE`); err == nil {
		t.Fatal("nonsense is no schema")
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		if target, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(target, path) {
			t.Errorf("%s is open", target)
		}
	}
}
