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
	"strings"
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

// GoModule builds the guest in guests/go. It is not committed, being a hundred times
// larger than the others.
func GoModule(t testing.TB) []byte {
	t.Helper()
	return must(t, goModule)
}

// GoCommand builds the program in guests/gocommand.
func GoCommand(t testing.TB) []byte {
	t.Helper()
	return must(t, goCommand)
}

// Keepers are guests that answer true as long as no call sees anything of another.
func Keepers() []string {
	return []string{
		"guests/keeper-memory", "guests/keeper-data", "guests/keeper-global", "guests/keeper-reference",
		"guests/keeper-table", "guests/keeper-segment", "guests/keeper-initialize",
	}
}

// Installed returns the path of a program that a test needs, and skips the test where it is
// missing. As root, as whom all tests run, it must be there.
func Installed(t testing.TB, program, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil && (os.Getuid() == 0 || os.Getenv("CI") != "") {
		t.Fatalf("%s is missing: make test installs it (Debian: %s)", program, debianPackage)
	}
	if err != nil {
		t.Skipf("%s (Debian: %s) is not installed", program, debianPackage)
	}
	return path
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

// goModule and goCommand build once for all tests of a process.
var (
	goModule  = sync.OnceValues(func() ([]byte, error) { return goGuest("go", "-buildmode=c-shared") })
	goCommand = sync.OnceValues(func() ([]byte, error) { return goGuest("gocommand") })
)

func must(t testing.TB, build func() ([]byte, error)) []byte {
	t.Helper()
	module, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return module
}

func goGuest(name string, flags ...string) ([]byte, error) {
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
	source := filepath.Join(strings.TrimSpace(string(root)), "wasmtests", "guests", name)
	if err := GoBuild(source, out, WASIP1, flags...); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// WASIP1 is the platform of guests in Go.
const WASIP1 = "wasip1/wasm"

// GoBuild builds the Go program in a folder, for a platform such as WASIP1 or, if that is
// empty, for the host.
func GoBuild(dir, out, platform string, flags ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-trimpath", "-buildvcs=false", "-o", out}, flags...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if system, processor, given := strings.Cut(platform, "/"); given {
		cmd.Env = append(cmd.Env, "GOOS="+system, "GOARCH="+processor)
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", dir, err, text)
	}
	return nil
}
