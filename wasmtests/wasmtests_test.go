package wasmtests

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSources builds every module again.
func TestSources(t *testing.T) {
	if _, err := exec.LookPath("wat2wasm"); err != nil {
		if os.Getuid() == 0 || os.Getenv("CI") != "" {
			t.Fatal("wat2wasm is missing: make test installs it (Debian: wabt)")
		}
		t.Skip("wat2wasm (Debian: wabt) is not installed")
	}
	sources, err := filepath.Glob("*/*.wat")
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
		if want := Module(t, strings.TrimSuffix(source, ".wat")); !bytes.Equal(got, want) {
			t.Errorf("%s: the committed module is not what its source gives: run build.sh", source)
		}
	}
}
