package wazero

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/wasmtests"
)

// compile returns a cache folder for a module.
func compile(t testing.TB, module []byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := (&Engine{}).Compile(module, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func fromFolder(t testing.TB, dir string) *Engine {
	t.Helper()
	e := &Engine{}
	if err := e.LoadFolder(dir, hostabi.AirV1, memoryLimit); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestCacheFolder(t *testing.T) {
	dir := compile(t, wasmtests.Module(t, "guests/echo"))
	answers(t, fromFolder(t, dir), "x", "x", "x", "x")
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		relative, _ := filepath.Rel(dir, path)
		files = append(files, strings.Split(relative, string(filepath.Separator))[0])
		return err
	})
	slices.Sort(files)
	if want := []string{codeFolder, imageFile, skeletonFile}; err != nil || !slices.Equal(files, want) {
		t.Errorf("%v, %v, want %v", files, err, want)
	}
}

// TestSkeletonIsEmpty shows that what a folder's engine runs is not in the skeleton.
func TestSkeletonIsEmpty(t *testing.T) {
	skeleton, err := os.ReadFile(filepath.Join(compile(t, wasmtests.Module(t, "guests/state")), skeletonFile))
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{}
	ctx := context.Background()
	e.runtime = wazero.NewRuntimeWithConfig(ctx, compiler())
	if e.module, err = e.runtime.CompileModule(ctx, skeleton); err != nil {
		t.Fatal(err)
	}
	if err := e.link(); err != nil {
		t.Fatal(err)
	}
	m, err := e.runtime.InstantiateModule(ctx, e.module, wazero.NewModuleConfig().WithStartFunctions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.ExportedFunction(hostabi.ExportCall).Call(ctx, 0); err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("got %v", err)
	}
}

func TestDamagedCache(t *testing.T) {
	edit := func(path string, change func([]byte) []byte) error {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, change(data), 0o600)
	}
	cut := func(b []byte) []byte { return b[:len(b)/2] }
	for name, damage := range map[string]func(dir, code string) error{
		"no skeleton":      func(dir, _ string) error { return os.Remove(filepath.Join(dir, skeletonFile)) },
		"no image":         func(dir, _ string) error { return os.Remove(filepath.Join(dir, imageFile)) },
		"no code":          func(_, code string) error { return os.Remove(code) },
		"no code folder":   func(dir, _ string) error { return os.RemoveAll(filepath.Join(dir, codeFolder)) },
		"empty folder":     func(dir, _ string) error { return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)) },
		"no folder":        func(dir, _ string) error { return os.RemoveAll(dir) },
		"cut skeleton":     func(dir, _ string) error { return edit(filepath.Join(dir, skeletonFile), cut) },
		"cut image":        func(dir, _ string) error { return edit(filepath.Join(dir, imageFile), cut) },
		"cut code":         func(_, code string) error { return edit(code, cut) },
		"empty code":       func(_, code string) error { return os.Truncate(code, 0) },
		"another key":      func(_, code string) error { return os.Rename(code, code[:len(code)-1]+"x") },
		"two codes":        func(_, code string) error { return os.WriteFile(code+"x", nil, 0o600) },
		"another skeleton": func(dir, _ string) error { return edit(filepath.Join(dir, skeletonFile), withSection) },
		"another version": func(_, code string) error {
			return edit(code, func(b []byte) []byte { b[7] ^= 1; return b }) // see serializeCompiledModule
		},
		"another magic": func(_, code string) error { return edit(code, func(b []byte) []byte { b[0] ^= 1; return b }) },
		"another wazero": func(_, code string) error {
			return os.Rename(filepath.Dir(code), filepath.Dir(code)+"x")
		},
		"changed code": func(_, code string) error { return edit(code, func(b []byte) []byte { b[len(b)-9] ^= 1; return b }) },
	} {
		dir := compile(t, wasmtests.Module(t, "guests/echo"))
		code, err := codeFile(filepath.Join(dir, codeFolder))
		if err != nil {
			t.Fatal(err)
		}
		if err := damage(dir, code); err != nil {
			t.Fatal(err)
		}
		if err := (&Engine{}).LoadFolder(dir, hostabi.AirV1, memoryLimit); !errors.Is(err, ErrCache) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// withSection appends an empty custom section: the same module under another key.
func withSection(module []byte) []byte { return append(bytes.Clone(module), 0, 2, 1, 'x') }

// TestCacheThatCannotBeWritten puts something else where files should go.
func TestCacheThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken := func(name string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, dir := range []string{file, "x\x00y", taken(codeFolder), taken(fullFolder), taken(imageFile), taken(skeletonFile)} {
		if err := (&Engine{}).Compile(wasmtests.Module(t, "guests/echo"), dir); !errors.Is(err, ErrCache) {
			t.Errorf("%q: got %v", dir, err)
		}
	}
}

func TestFolderAndLimit(t *testing.T) {
	dir := compile(t, wasmtests.Module(t, "guests/state"))
	if err := (&Engine{}).LoadFolder(dir, hostabi.AirV1, 1000); err == nil || errors.Is(err, ErrCache) {
		t.Errorf("got %v", err)
	}
	if err := (&Engine{Interpreter: true}).LoadFolder(dir, hostabi.AirV1, memoryLimit); err == nil || errors.Is(err, ErrCache) {
		t.Errorf("got %v", err)
	}
}
