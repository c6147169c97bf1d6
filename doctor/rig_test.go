package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/aircoding/air/capabilities"
)

// variables is an environment for Config.Getenv.
func variables(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// folder makes a folder that is not world-writable, with scripts in it by their name.
func folder(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range scripts {
		script(t, filepath.Join(dir, name), body)
	}
	return dir
}

func script(t *testing.T, path, body string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func mode(t *testing.T, path string, m os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, m); err != nil {
		t.Fatal(err)
	}
}

// one checks a single detector.
func one(t *testing.T, d *Doctor, detector string) capabilities.Verdict {
	t.Helper()
	got := d.Check(t.Context(), []capabilities.Dependency{{DependencyID: "x", Kind: "binary", Detector: detector, Required: true}})
	if len(got) != 1 || got[0].Detector != detector || got[0].DependencyID != "x" || !got[0].Required {
		t.Fatalf("%s: got %+v", detector, got)
	}
	return got[0]
}

func needs(t *testing.T, program, debian string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("needs the package %s", debian)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
