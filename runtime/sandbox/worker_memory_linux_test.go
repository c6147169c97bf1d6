package sandbox

import (
	"debug/elf"
	"os"
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

// TestRelocates compares with the standard library's reading of this program.
func TestRelocates(t *testing.T) {
	file, err := elf.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want := file.Type != elf.ET_EXEC || slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_DYNAMIC })
	header, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if got := relocates(header[:4096]); got != want {
		t.Errorf("relocates is %v, not %v", got, want)
	}
	for _, broken := range [][]byte{nil, header[:10], header[:64], []byte("#!/bin/sh\n")} {
		if !relocates(broken) {
			t.Errorf("a header of %d bytes is taken for a fixed program", len(broken))
		}
	}
}
