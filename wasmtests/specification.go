package wasmtests

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Script is a file of the tests of the WebAssembly specification. Its modules lie beside
// it. A command is what wabt's wast2json writes, as far as Command has fields for it.
type Script[Command any] struct {
	Path     string
	Commands []Command
}

// Specification returns the tests of version v1 or v2, which come with wazero's source.
func Specification[Command any](t testing.TB, version string) (all []Script[Command]) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := strings.TrimSpace(string(dir))
	if source == "" {
		t.Fatal("wazero's source is not in the module cache: go mod download")
	}
	pattern := filepath.Join(source, "internal/integration_test/spectest", version, "testdata/*.json")
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < 70 {
		t.Fatalf("%d files are %s, %v", len(files), pattern, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script := Script[Command]{Path: file}
		if err := json.Unmarshal(text, &script); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, script)
	}
	return all
}
