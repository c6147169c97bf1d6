package wasmtests

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
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
	wat2wasm := Installed(t, "wat2wasm", "wabt")
	sources, err := filepath.Glob("*/*.wat")
	if err != nil || len(sources) == 0 {
		t.Fatal("no sources", err)
	}
	for _, source := range sources {
		out := filepath.Join(t.TempDir(), "out.wasm")
		if text, err := exec.Command(wat2wasm, "--debug-names", source, "-o", out).CombinedOutput(); err != nil {
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

// TestSums compares the modules of other languages with what they were built from: nobody
// needs their compilers to see that one is older than its source.
func TestSums(t *testing.T) {
	all, err := filepath.Glob("*/*/SUMS")
	if err != nil || len(all) == 0 {
		t.Fatal("no SUMS", err)
	}
	for _, file := range all {
		folder := filepath.Dir(file)
		noted := sums(t, folder)
		files, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		if len(files)-1 != len(noted) {
			t.Errorf("%s: %d files, SUMS notes %d", folder, len(files)-1, len(noted))
		}
		for _, f := range files {
			if f.Name() != "SUMS" && noted[f.Name()] != sum(t, filepath.Join(folder, f.Name())) {
				t.Errorf("%s/%s is not what SUMS notes: run make guests", folder, f.Name())
			}
		}
	}
}

// sums returns what the file SUMS of a folder notes; nil if there is none.
func sums(t *testing.T, folder string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "SUMS"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	noted := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		noted[name] = sum
	}
	return noted
}

func sum(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// TestEveryModuleIsBuilt looks at each module of the repository: the tests above know how it
// is built, and it is there once.
func TestEveryModuleIsBuilt(t *testing.T) {
	seen := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && strings.HasPrefix(name, ".") && name != "..":
			return fs.SkipDir
		case filepath.Ext(name) != ".wasm" || name == "module.wasm": // git ignores what examples build
			return nil
		}
		folder, err := filepath.Rel("../wasmtests", filepath.Dir(path))
		if err != nil {
			return err
		}
		_, err = os.Stat(strings.TrimSuffix(path, ".wasm") + ".wat")
		text := err == nil && (folder == "guests" || folder == "hostile")
		if !text && (strings.HasPrefix(folder, "..") || sums(t, folder)[name] == "") {
			t.Errorf("%s: nothing checks how it is built", path)
		}
		if s := sum(t, path); seen[s] != "" {
			t.Errorf("%s is %s again", path, seen[s])
		} else {
			seen[s] = path
		}
		return nil
	})
	if err != nil || len(seen) < 50 {
		t.Errorf("%d modules, %v", len(seen), err)
	}
}
