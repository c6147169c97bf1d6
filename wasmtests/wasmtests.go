// Package wasmtests holds the guests that tests of every engine run: small modules that
// use the ABI, the same guest in four languages, and hostile ones. README.md says what
// lies where.
package wasmtests

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

//go:embed guests/*.wasm guests/*/*.wasm hostile/*.wasm
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

// Languages are the names of the guests that answer alike, those which Module knows. The
// one in Go is made by GoModule.
func Languages() []string {
	return []string{"guests/c/words", "guests/c/words-free", "guests/rust/words", "guests/assemblyscript/words"}
}

// GoModule builds the guest in guests/go. It is not committed, being a hundred times
// larger than the others.
func GoModule(t testing.TB) []byte {
	t.Helper()
	module, err := goModule()
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// goModule builds once for all tests of a process.
var goModule = sync.OnceValues(func() ([]byte, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/aircoding/air").Output()
	if err != nil {
		return nil, fmt.Errorf("finding the main module: %w", err)
	}
	dir, err := os.MkdirTemp("", "goguest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-o", out, ".")
	cmd.Dir = filepath.Join(string(root[:len(root)-1]), "wasmtests", "guests", "go")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "PWD="+cmd.Dir)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the guest in Go: %w\n%s", err, text)
	}
	return os.ReadFile(out)
})

// File writes a module into a temporary folder and returns its path.
func File(t testing.TB, module []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "module.wasm")
	if err := os.WriteFile(path, module, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Keepers are guests that answer true as long as no call sees anything of another.
func Keepers() []string {
	return []string{
		"guests/keeper-memory", "guests/keeper-data", "guests/keeper-global", "guests/keeper-reference",
		"guests/keeper-table", "guests/keeper-segment", "guests/keeper-initialize",
	}
}
