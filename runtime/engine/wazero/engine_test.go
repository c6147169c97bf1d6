package wazero

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/wasmtests"
)

func load(t testing.TB, module []byte, cacheDir string) (*Engine, bool) {
	t.Helper()
	e := &Engine{}
	cached, err := e.Load(module, cacheDir, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	return e, cached
}

func call(input string) *hostabi.Call {
	return &hostabi.Call{Input: []byte(input), Limits: hostabi.Limits{OutputBytes: 1 << 20, HostCalls: 10, LogBytes: 1 << 10}}
}

func TestRun(t *testing.T) {
	e, _ := load(t, wasmtests.Module(t, "guests/echo"), "")
	for _, input := range []string{"a", "", strings.Repeat("long", 50_000)} {
		c := call(input)
		if status, err := e.Run(c); status != 0 || err != nil || string(c.Output) != input {
			t.Errorf("%.10q: status %d, %v, %d bytes", input, status, err, len(c.Output))
		}
	}
}

func TestTrapNamesFunctions(t *testing.T) {
	e, _ := load(t, wasmtests.Module(t, "guests/trap"), "")
	_, err := e.Run(call(""))
	if err == nil || !strings.HasPrefix(err.Error(), "wasm error: unreachable\n") || !strings.Contains(err.Error(), ".inner()") {
		t.Errorf("got %v", err)
	}
}

func TestExitIsATrap(t *testing.T) {
	e, _ := load(t, wasmtests.Module(t, "guests/exit"), "")
	var exit *hostabi.ExitError
	if _, err := e.Run(call("")); !errors.As(err, &exit) {
		t.Errorf("got %v", err)
	}
}

func TestMemoryRefusedIsOfOneCall(t *testing.T) {
	e, _ := load(t, wasmtests.Module(t, "hostile/grow"), "")
	if _, err := e.Run(call("")); err == nil || !e.MemoryRefused() {
		t.Errorf("%v, refused %v", err, e.MemoryRefused())
	}
	echo, _ := load(t, wasmtests.Module(t, "guests/echo"), "")
	echo.memory.refused = true
	if _, err := echo.Run(call("")); err != nil || echo.MemoryRefused() {
		t.Errorf("%v, refused %v", err, echo.MemoryRefused())
	}
}

func TestMemoryIsClean(t *testing.T) {
	m := &memory{limit: 64 << 20}
	for _, size := range []uint64{1 << 16, 1 << 20, keepBytes, keepBytes + 1<<16, 1 << 16} {
		b := m.Reallocate(1 << 16)
		b = append(b[:0:0], b...)
		all := m.Reallocate(size)
		if !bytes.Equal(all, make([]byte, size)) || len(b) != 1<<16 {
			t.Fatalf("%d bytes are not clean", size)
		}
		for i := range all {
			all[i] = 0xff
		}
		m.Free()
	}
	if m.Reallocate(64<<20+1<<16) != nil || !m.refused {
		t.Error("memory above the limit")
	}
}

func TestInvalidModule(t *testing.T) {
	dir := t.TempDir()
	if _, err := (&Engine{}).Load([]byte("\x00asm\x01\x00\x00\x00\x01\x02\x03"), dir, 1<<20); err == nil {
		t.Error("accepted")
	}
}

// TestCacheThatCannotBeWritten puts a folder where the machine code should go, as a full
// disk or a lost permission would stop it.
func TestCacheThatCannotBeWritten(t *testing.T) {
	dir, module := t.TempDir(), wasmtests.Module(t, "guests/echo")
	if _, cached := load(t, module, dir); !cached {
		t.Fatal("not cached")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := errors.Join(os.Remove(files[0]), os.Mkdir(files[0], 0o700)); err != nil {
		t.Fatal(err)
	}
	e, cached := load(t, module, dir)
	c := call("x")
	if _, err := e.Run(c); cached || err != nil || string(c.Output) != "x" {
		t.Errorf("cached %v, %v, output %q", cached, err, c.Output)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{filepath.Join(dir, "x\x00y"), file} {
		if _, cached := load(t, module, folder); cached {
			t.Errorf("cached in %q, which cannot be a folder", folder)
		}
	}
}
