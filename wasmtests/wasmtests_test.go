package wasmtests

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/runtime/engine"
)

func TestMain(m *testing.M) {
	engine.ServeIfWorker()
	os.Exit(m.Run())
}

// TestTextSources builds every module in the text format again.
func TestTextSources(t *testing.T) {
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
			t.Errorf("%s: the committed module is not what its source gives: run build.sh wat", source)
		}
	}
}

// TestSums compares the guests of other languages with what their modules were built from:
// nobody needs their compilers to see that one is older than its source.
func TestSums(t *testing.T) {
	for _, folder := range []string{"guests/c", "guests/rust", "guests/assemblyscript"} {
		sums, err := os.ReadFile(filepath.Join(folder, "SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		noted := map[string]string{"SUMS": ""}
		for lines := bufio.NewScanner(bytes.NewReader(sums)); lines.Scan(); {
			sum, name, _ := strings.Cut(lines.Text(), "  ")
			noted[name] = sum
		}
		files, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != len(noted) {
			t.Errorf("%s: %d files, SUMS notes %d", folder, len(files)-1, len(noted)-1)
		}
		for _, file := range files {
			content, err := os.ReadFile(filepath.Join(folder, file.Name()))
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(content)
			if file.Name() != "SUMS" && noted[file.Name()] != hex.EncodeToString(sum[:]) {
				t.Errorf("%s/%s is not what SUMS notes: run make guests", folder, file.Name())
			}
		}
	}
}
