package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestExtents(t *testing.T) {
	const maps = `00400000-0056d000 r-xp 00000000 fe:00 131 /usr/bin/air tool
0056d000-0071e000 r--p 0016d000 fe:00 131 /usr/bin/air tool
0071e000-00742000 rw-p 0031e000 fe:00 131 /usr/bin/air tool
c000000000-c000400000 rw-p 00000000 00:00 0
7f4a2c000000-7f4a2c021000 r-xp 00000000 fe:00 77                         /usr/lib/libc.so.6
7ffd1d9e8000-7ffd1da09000 rw-p 00000000 00:00 0                          [stack]
`
	code, constants := extent{0x400000, 0x56d000}, extent{0x56d000, 0x71e000}
	if got := extents([]byte(maps), "/usr/bin/air tool", "r-xp", "r--p"); !slices.Equal(got, []extent{code, constants}) {
		t.Errorf("code and constants are %x", got)
	}
	if got := extents([]byte(maps), "/usr/bin/air tool", "r-xp"); !slices.Equal(got, []extent{code}) {
		t.Errorf("code is %x", got)
	}
	if got := extents([]byte(maps), "/usr/bin/other", "r-xp"); got != nil {
		t.Errorf("another program has %x", got)
	}
}

// TestRelocates: the Go linker alone makes programs that do not, and with a C library ones
// that do.
func TestRelocates(t *testing.T) {
	if got, want := relocates(thisProgram()), len(libraryCalls()) > 0; got != want {
		t.Errorf("this program: %v, not %v", got, want)
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{script, "/no/such/file"} {
		if !relocates(path) {
			t.Errorf("%s is taken for a fixed program", path)
		}
	}
}
