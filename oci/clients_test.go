package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tool finds a real client: in $AIR_TOOLS, in .tools/bin of the repository, on PATH.
func tool(t testing.TB, name string) string {
	t.Helper()
	dirs := []string{os.Getenv("AIR_TOOLS"), filepath.Join("..", ".tools", "bin")}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		path, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path
		}
	}
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getuid() == 0 || os.Getenv("CI") != "" {
		t.Fatalf("%s is missing: neither in $AIR_TOOLS, nor in .tools/bin, nor on PATH", name)
	}
	t.Skipf("%s is missing: put it into .tools/bin or on PATH", name)
	return ""
}

func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = t.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", filepath.Base(name), args, err, out, stderr.String())
	}
	return out
}

// served is a registry of ours that has hello.
func served(t *testing.T) (host string) {
	t.Helper()
	host = serveTest(t, ServeOptions{})
	mustPush(t, plainClient(t), host+"/me/hello:0.1.0", hello())
	return host
}

func TestCrane(t *testing.T) {
	crane := tool(t, "crane")
	host := served(t)
	if got := run(t, crane, "manifest", "--insecure", host+"/me/hello:0.1.0"); strings.TrimSpace(string(got)) != goldenManifest {
		t.Errorf("crane manifest printed %s", got)
	}
	if got := run(t, crane, "digest", "--insecure", host+"/me/hello:0.1.0"); strings.TrimSpace(string(got)) != goldenDigest {
		t.Errorf("crane digest printed %s", got)
	}
	if got := run(t, crane, "ls", "--insecure", host+"/me/hello"); strings.TrimSpace(string(got)) != "0.1.0" {
		t.Errorf("crane ls printed %s", got)
	}
	if got := run(t, crane, "catalog", "--insecure", host); strings.TrimSpace(string(got)) != "me/hello" {
		t.Errorf("crane catalog printed %s", got)
	}
	run(t, crane, "copy", "--insecure", host+"/me/hello:0.1.0", host+"/you/hi:1")
	got, err := plainClient(t).Pull(context.Background(), host+"/you/hi:1")
	if err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, hello())
	run(t, crane, "delete", "--insecure", host+"/you/hi@"+goldenDigest)
	_, err = plainClient(t).Pull(context.Background(), host+"/you/hi@"+goldenDigest)
	wantError(t, err, KindNotFound, "")
}

func TestOras(t *testing.T) {
	oras := tool(t, "oras")
	host := served(t)
	dir := t.TempDir()
	run(t, oras, "pull", "--plain-http", "-o", dir, host+"/me/hello:0.1.0")
	for _, l := range hello().Layers {
		content, err := os.ReadFile(filepath.Join(dir, l.Title))
		if err != nil || int64(len(content)) != l.Size {
			t.Errorf("%s came back as %q, %v", l.Title, content, err)
		}
	}
	// What oras pushes as a bundle, AIR pulls.
	folder := t.TempDir()
	for name, text := range map[string]string{"module.wasm": "\x00asm\x01\x00\x00\x00", "config.json": `{"id":"hello","version":"0.1.0"}`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), oras, "push", "--plain-http", "--artifact-type", bundleType,
		"--config", "config.json:"+mediaTypeConfig, host+"/me/hello:oras", "module.wasm:"+MediaTypeModule)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("oras push: %v\n%s", err, out)
	}
	got, err := plainClient(t).Pull(context.Background(), host+"/me/hello:oras")
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Config) != `{"id":"hello","version":"0.1.0"}` || len(got.Layers) != 1 || got.Layers[0].Title != "module.wasm" {
		t.Errorf("got %+v", got)
	}
}

func TestSkopeo(t *testing.T) {
	skopeo := tool(t, "skopeo")
	host := served(t)
	raw := run(t, skopeo, "inspect", "--raw", "--tls-verify=false", "docker://"+host+"/me/hello:0.1.0")
	if string(bytes.TrimSpace(raw)) != goldenManifest {
		t.Errorf("skopeo inspect --raw printed %s", raw)
	}
	layout := filepath.Join(t.TempDir(), "layout")
	run(t, skopeo, "--insecure-policy", "copy", "--src-tls-verify=false", "docker://"+host+"/me/hello:0.1.0", "oci:"+layout+":hello")
	var index struct {
		Manifests []struct{ Digest string }
	}
	text, err := os.ReadFile(filepath.Join(layout, "index.json"))
	if err != nil || json.Unmarshal(text, &index) != nil || len(index.Manifests) != 1 || index.Manifests[0].Digest != goldenDigest {
		t.Errorf("the copy's index is %s, %v", text, err)
	}
	run(t, skopeo, "--insecure-policy", "copy", "--dest-tls-verify=false", "oci:"+layout+":hello", "docker://"+host+"/me/copy:1")
	got, err := plainClient(t).Pull(context.Background(), host+"/me/copy:1")
	if err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, hello())
}
