package hostabi

import (
	"bytes"
	"encoding/binary"
	"testing"
)

func newCommand() *Call {
	return &Call{Tool: "a.b", Input: []byte(`{"a":1}`), Limits: Limits{OutputBytes: 10, LogBytes: 8}}
}

// iovec puts a vector of pieces, each an address and a size, at address 0.
func iovec(m memory, pieces ...uint32) {
	for i, n := range pieces {
		binary.LittleEndian.PutUint32(m[4*i:], n)
	}
}

// TestCommandFunctions: commands have no door to the registry.
func TestCommandFunctions(t *testing.T) {
	all := Functions(WASICommand)
	for _, f := range all {
		if f.Module != WASIModule {
			t.Errorf("commands may import %s.%s", f.Module, f.Name)
		}
	}
	if len(all) != 46 {
		t.Errorf("%d functions", len(all))
	}
}

func TestArguments(t *testing.T) {
	c, m := newCommand(), page()
	if got := runCommand(t, c, m, "args_sizes_get", 1000, 1004); got != 0 || !bytes.Equal(m[1000:1008], []byte{1, 0, 0, 0, 4, 0, 0, 0}) {
		t.Errorf("got %d, %x", got, m[1000:1008])
	}
	if got := runCommand(t, c, m, "args_get", 1000, 2000); got != 0 || !bytes.Equal(m[1000:1004], []byte{0xd0, 7, 0, 0}) || string(m[2000:2005]) != "a.b\x00\x00" {
		t.Errorf("got %d, %x, %q", got, m[1000:1004], m[2000:2005])
	}
}

func TestStdinInPieces(t *testing.T) {
	c, m := newCommand(), page()
	iovec(m, 1000, 2, 2000, 0, 3000, 3)
	for _, want := range []string{`{"a":`, `1}`, ``, ``} {
		copy(m[1000:], "\xa5\xa5\xa5")
		copy(m[3000:], "\xa5\xa5\xa5\xa5")
		if got := runCommand(t, c, m, "fd_read", 0, 0, 3, 400); got != 0 || m[400] != byte(len(want)) {
			t.Errorf("got %d, %d bytes, want %q", got, m[400], want)
		}
		first := min(len(want), 2)
		if string(m[1000:1000+first])+string(m[3000:3000+len(want)-first]) != want || m[1002] != 0xa5 || m[3003] != 0xa5 {
			t.Errorf("got %q and %q, want %q", m[1000:1003], m[3000:3004], want)
		}
	}
}

// TestFailedReadTakesNothing has a piece outside of memory behind one inside.
func TestFailedReadTakesNothing(t *testing.T) {
	c, m := newCommand(), page()
	iovec(m, 1000, 2, 0xfffffff0, 3)
	if got := runCommand(t, c, m, "fd_read", 0, 0, 2, 400); got != int32(wasiEFAULT) {
		t.Errorf("got %d", got)
	}
	if got := runCommand(t, c, m, "fd_read", 0, 0, 1, PageSize-3); got != int32(wasiEFAULT) {
		t.Errorf("got %d", got)
	}
	if got := runCommand(t, c, m, "fd_read", 0, 0, 1, 400); got != 0 || string(m[1000:1002]) != `{"` {
		t.Errorf("got %d, %q", got, m[1000:1002])
	}
}

func TestStdoutIsTheOutput(t *testing.T) {
	c, m := newCommand(), page() // 10 bytes
	iovec(m, 100, 4, 100, 3)     // fs.r, fs.
	for _, want := range []int32{0, int32(wasiENOSPC)} {
		if got := runCommand(t, c, m, "fd_write", 1, 0, 2, 400); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
		if string(c.Output) != "fs.rfs." || m[400] != 7 || c.OutputRefused != (want != 0) || len(c.Log) > 0 {
			t.Errorf("output %q, written %d, refused %t, log %q", c.Output, m[400], c.OutputRefused, c.Log)
		}
	}
	if got := runCommand(t, c, m, "fd_write", 2, 0, 1, 400); got != 0 || string(c.Log) != "fs.r" || len(c.Output) != 7 {
		t.Errorf("got %d, log %q, output %q", got, c.Log, c.Output)
	}
}

func TestFailedWriteWritesNothing(t *testing.T) {
	c, m := newCommand(), page()
	iovec(m, 100, 4, PageSize-1, 2)
	if got := runCommand(t, c, m, "fd_write", 1, 0, 2, 400); got != int32(wasiEFAULT) || len(c.Output) > 0 {
		t.Errorf("got %d, output %q", got, c.Output)
	}
	if got := runCommand(t, c, m, "fd_write", 1, 0, 1, PageSize-3); got != int32(wasiEFAULT) || len(c.Output) > 0 {
		t.Errorf("got %d, output %q", got, c.Output)
	}
}

// TestPipes asks what the descriptors are, and passes bad pointers (G4).
func TestPipes(t *testing.T) {
	const end, wild = PageSize, 0xfffffff0
	for _, test := range []struct {
		name   string
		params []uint64
		want   errno
	}{
		{"fd_close", []uint64{0}, wasiOK},
		{"fd_close", []uint64{3}, wasiEBADF},
		{"fd_seek", []uint64{1, 0, 0, 1000}, wasiESPIPE},
		{"fd_seek", []uint64{3, 0, 0, 1000}, wasiEBADF},
		{"fd_tell", []uint64{2, 1000}, wasiESPIPE},
		{"fd_fdstat_get", []uint64{2, end - 24}, wasiOK},
		{"fd_fdstat_get", []uint64{2, end - 23}, wasiEFAULT},
		{"fd_fdstat_get", []uint64{3, 0}, wasiEBADF},
		{"fd_filestat_get", []uint64{0, end - 64}, wasiOK},
		{"fd_filestat_get", []uint64{0, end - 63}, wasiEFAULT},
		{"fd_filestat_get", []uint64{3, 0}, wasiEBADF},
		{"fd_read", []uint64{1, 0, 1, 400}, wasiEBADF},
		{"fd_read", []uint64{0, 0, maxVector + 1, 400}, wasiEINVAL},
		{"fd_read", []uint64{0, end - 7, 1, 400}, wasiEFAULT},
		{"fd_read", []uint64{0, wild, 1, 400}, wasiEFAULT},
		{"fd_write", []uint64{0, 0, 1, 400}, wasiEBADF},
		{"fd_write", []uint64{3, 0, 1, 400}, wasiEBADF},
		{"fd_write", []uint64{1, 0, maxVector + 1, 400}, wasiEINVAL},
		{"fd_write", []uint64{1, wild, 1, 400}, wasiEFAULT},
		{"args_sizes_get", []uint64{0, end - 3}, wasiEFAULT},
		{"args_get", []uint64{0, end - 3}, wasiEFAULT},
		{"args_get", []uint64{wild, 0}, wasiEFAULT},
		{"fd_pread", []uint64{0, 0, 1, 0, 400}, wasiENOSYS},
	} {
		if got := runCommand(t, newCommand(), page(), test.name, test.params...); errno(got) != test.want {
			t.Errorf("%s%x: got %d, want %d", test.name, test.params, got, test.want)
		}
	}
	m := page()
	for fd, want := range []byte{rightRead, rightWrite, rightWrite} {
		runCommand(t, newCommand(), m, "fd_fdstat_get", uint64(fd), 1000)
		if m[1000] != 0 || m[1008] != want {
			t.Errorf("%d: %x", fd, m[1000:1024])
		}
	}
}
