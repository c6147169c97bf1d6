package wazero

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestSources builds every module of testdata again. The recipe:
//
//	wat2wasm --debug-names x.wat -o x.wasm
func TestSources(t *testing.T) {
	if _, err := exec.LookPath("wat2wasm"); err != nil {
		t.Skip("wat2wasm (Debian: wabt) is not installed")
	}
	sources, err := filepath.Glob("testdata/*.wat")
	if err != nil || len(sources) == 0 {
		t.Fatal("no sources", err)
	}
	for _, source := range sources {
		out := filepath.Join(t.TempDir(), "out.wasm")
		if text, err := exec.Command("wat2wasm", "--debug-names", source, "-o", out).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", source, err, text)
		}
		got, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, module(t, strings.TrimSuffix(filepath.Base(source), ".wat"))) {
			t.Errorf("%s: the committed module is not what its source gives", source)
		}
	}
}

// module returns a module of testdata.
func module(t testing.TB, name string) []byte {
	t.Helper()
	m, err := os.ReadFile(filepath.Join("testdata", name+".wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// buildGoGuest compiles testdata/goguest once for all tests.
var buildGoGuest = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "goguest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-o", out, "testdata/goguest/main.go")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return os.ReadFile(out)
})

func goGuest(t testing.TB) []byte {
	t.Helper()
	m, err := buildGoGuest()
	if err != nil {
		t.Fatal(err)
	}
	return m
}
