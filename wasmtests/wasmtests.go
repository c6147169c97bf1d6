// Package wasmtests holds the guests that tests of every engine run: small modules that
// use the ABI, and hostile ones. Each .wasm lies beside its source; build.sh is the
// recipe.
package wasmtests

import (
	"embed"
	"os"
	"path/filepath"
	"testing"
)

//go:embed guests/*.wasm hostile/*.wasm
var modules embed.FS

// Module returns a module by folder and name, such as "guests/echo".
func Module(t testing.TB, name string) []byte {
	t.Helper()
	module, err := modules.ReadFile(name + ".wasm")
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// File writes a module into a temporary folder and returns its path.
func File(t testing.TB, module []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "module.wasm")
	if err := os.WriteFile(path, module, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
