package scaffold

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/resources"
)

func options(t *testing.T, dir, name string) Options {
	t.Helper()
	templates, err := resources.Templates("go")
	if err != nil {
		t.Fatal(err)
	}
	return Options{Dir: dir, Name: name, Templates: templates, Check: func(doc []byte) error {
		_, err := capabilities.ParseManifest(doc)
		return err
	}}
}

func TestNewWritesACapability(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hello")
	files, err := New(options(t, dir, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".gitignore", "HELP.md", "README.md", "air/README.md", "air/host_wasip1.go", "capability.json", "go.mod", "main.go", "main_test.go"} {
		if !slices.Contains(files, name) {
			t.Errorf("no %s in %q", name, files)
		}
	}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("{{")) || len(text) == 0 {
			t.Errorf("%s was not filled in", name)
		}
	}
	m, err := capabilities.ReadManifest(dir)
	if err != nil || m.CapabilityID != "hello" || !slices.Equal(m.ToolNames(), []string{"hello.greet"}) {
		t.Errorf("manifest: %+v, %v", m, err)
	}
}

// A new capability builds and passes its tests before anything is published, also with
// a name that is no Go package's, and two folders give the same module.
func TestNewBuilds(t *testing.T) {
	one, two := filepath.Join(t.TempDir(), "vendor"), filepath.Join(t.TempDir(), "elsewhere")
	for _, dir := range []string{one, two} {
		if _, err := New(options(t, dir, "vendor")); err != nil {
			t.Fatal(err)
		}
	}
	run(t, one, nil, "gofmt", "-d", ".")
	run(t, one, nil, "go", "test", "./...")
	wasm := []string{"GOOS=wasip1", "GOARCH=wasm"}
	for _, dir := range []string{one, two} {
		run(t, dir, wasm, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-o", "module.wasm", ".")
	}
	bundles := [2]*capabilities.Bundle{}
	for i, dir := range []string{one, two} {
		b, err := capabilities.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		bundles[i] = b
	}
	if bundles[0].Digest != bundles[1].Digest {
		t.Errorf("the same source gave %s and %s", bundles[0].Digest, bundles[1].Digest)
	}
}

func run(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = dir
	c.Env = append(append(os.Environ(), "GOWORK=off"), env...)
	out, err := c.CombinedOutput()
	if err != nil || (name == "gofmt" && len(out) > 0) {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

func TestNewRefuses(t *testing.T) {
	parent := t.TempDir()
	taken, file := filepath.Join(parent, "taken"), filepath.Join(parent, "file")
	if err := errors.Join(os.Mkdir(taken, 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, dir, capability string
		kind                  fault.Kind
	}{
		{"no name", "x", "", fault.InvalidInput},
		{"capital", "x", "Hello", fault.InvalidInput},
		{"path", "x", "../hello", fault.InvalidInput},
		{"hyphen in front", "x", "-hello", fault.InvalidInput},
		{"template", "x", "{{.}}", fault.InvalidInput},
		{"too long", "x", string(bytes.Repeat([]byte("a"), 65)), fault.InvalidInput},
		{"reserved", "x", "fs", fault.InvalidInput},
		{"a folder is there", "taken", "hello", fault.Conflict},
		{"a file is there", "file", "hello", fault.Conflict},
		{"no parent", "none/x", "hello", fault.Unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(options(t, filepath.Join(parent, tt.dir), tt.capability))
			if !fault.Is(err, tt.kind) {
				t.Errorf("got %v, want %s", err, tt.kind)
			}
		})
	}
	_, err := New(options(t, filepath.Join(parent, "none", "x"), "hello"))
	if code := fault.From(err).Code; code != "file_error" {
		t.Errorf("the code is %s: %v", code, err)
	}
	left, err := os.ReadDir(parent)
	if err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestBrokenTemplates(t *testing.T) {
	for _, text := range []string{"{{", "{{.Nmae}}"} {
		o := Options{Dir: filepath.Join(t.TempDir(), "x"), Name: "x", Templates: fstest.MapFS{"a.tmpl": {Data: []byte(text)}}}
		if _, err := New(o); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
