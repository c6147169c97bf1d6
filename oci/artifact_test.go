package oci

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/aircoding/air/internal/canon"
)

// The digests were computed with sha256sum, the rest written by hand from
// https://github.com/opencontainers/image-spec/blob/v1.1.1/manifest.md. A change here
// changes the name of every bundle there is.
const (
	goldenManifest = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":"application/vnd.air.bundle.v1",` +
		`"config":{"mediaType":"application/vnd.air.manifest.v1+json","digest":"sha256:7860e88b02f78911f9b90319d840e12ce03119934f48be786d0706d6d87f3665","size":32,"data":"eyJpZCI6ImhlbGxvIiwidmVyc2lvbiI6IjAuMS4wIn0="},` +
		`"layers":[{"mediaType":"application/wasm","digest":"sha256:93a44bbb96c751218e4c00d479e4c14358122a389acca16205b1e4d0dc5f9476","size":8,"annotations":{"org.opencontainers.image.title":"module.wasm"}},` +
		`{"mediaType":"text/markdown","digest":"sha256:9e8b62f81ea5c66fa06ee53da032751386b37702153070c0e14dd1d316282fa7","size":8,"annotations":{"org.opencontainers.image.title":"HELP.md"}},` +
		`{"mediaType":"application/schema+json","digest":"sha256:a2c799262a3ce3c19ef5cdd983bf3d12b43ab3c426227091b909dcb7054738c0","size":17,"annotations":{"org.opencontainers.image.title":"schemas/greet.json"}}],` +
		`"annotations":{"org.opencontainers.image.description":"says hello","org.opencontainers.image.title":"hello","org.opencontainers.image.version":"0.1.0"}}`
	goldenDigest = "sha256:4950719b2c842340ff892df128a3ae176284e4373e7a4a87357dd92de522d1b1"
)

func TestManifestIsGolden(t *testing.T) {
	raw, digest, err := hello().Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if string(raw) != goldenManifest || digest != goldenDigest {
		t.Errorf("got  %s %s\nwant %s %s", digest, raw, goldenDigest, goldenManifest)
	}
}

// The image-spec's own types know every field, and another reader agrees on each.
func TestManifestIsAnImageManifest(t *testing.T) {
	var m ocispec.Manifest
	decoder := json.NewDecoder(strings.NewReader(goldenManifest))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		t.Fatal(err)
	}
	for what, ok := range map[string]bool{
		"schemaVersion":   m.SchemaVersion == 2,
		"mediaType":       m.MediaType == ocispec.MediaTypeImageManifest,
		"artifactType":    m.ArtifactType == "application/vnd.air.bundle.v1",
		"config type":     m.Config.MediaType == "application/vnd.air.manifest.v1+json",
		"config data":     string(m.Config.Data) == `{"id":"hello","version":"0.1.0"}`,
		"config digest":   m.Config.Digest.Validate() == nil && m.Config.Digest.Algorithm() == "sha256",
		"three layers":    len(m.Layers) == 3,
		"module first":    m.Layers[0].MediaType == "application/wasm",
		"layer title":     m.Layers[1].Annotations[ocispec.AnnotationTitle] == "HELP.md",
		"title":           m.Annotations[ocispec.AnnotationTitle] == "hello",
		"version":         m.Annotations[ocispec.AnnotationVersion] == "0.1.0",
		"nothing created": m.Annotations[ocispec.AnnotationCreated] == "" && len(m.Annotations) == 3,
		"no subject":      m.Subject == nil,
	} {
		if !ok {
			t.Errorf("%s: not as the image-spec or oci.md says", what)
		}
	}
	if _, err := v1.ParseManifest(strings.NewReader(goldenManifest)); err != nil {
		t.Errorf("go-containerregistry: %v", err)
	}
}

func TestOrderOfLayersDoesNotMatter(t *testing.T) {
	a := hello()
	a.Layers[1], a.Layers[2] = a.Layers[2], a.Layers[1]
	if _, digest, err := a.Manifest(); err != nil || digest != goldenDigest {
		t.Errorf("got %s, %v, want %s", digest, err, goldenDigest)
	}
}

// Two folders with other names, times and modes make one digest.
func TestTwoFoldersOneDigest(t *testing.T) {
	one, two := t.TempDir(), filepath.Join(t.TempDir(), "deep", "copy")
	for dir, mode := range map[string]os.FileMode{one: 0o600, two: 0o640} {
		for title, text := range map[string]string{"module.wasm": "\x00asm", "docs/a.md": "a", "assets/b.bin": "b"} {
			path := filepath.Join(dir, title)
			if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, first, err := folder(t, one).Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if _, second, err := folder(t, two).Manifest(); err != nil || first != second {
		t.Errorf("got %s and %s, %v", first, second, err)
	}
}

func folder(t *testing.T, dir string) Artifact {
	t.Helper()
	a := Artifact{Config: []byte(`{"id":"x"}`)}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, path))
		l := Layer{Title: path, Digest: canon.Digest(content), Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
			return os.Open(filepath.Join(dir, path))
		}}
		if path == "module.wasm" {
			a.Layers = append([]Layer{l}, a.Layers...)
		} else {
			a.Layers = append(a.Layers, l)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestMediaTypes(t *testing.T) {
	for title, want := range map[string]string{
		"module.wasm": "application/wasm", "schemas/a.json": "application/schema+json", "HELP.md": "text/markdown",
		"docs/A.MD": "text/markdown", "assets/a.json": "application/json", "assets/a": "application/octet-stream",
		"assets/a.unknown": "application/octet-stream", "assets/a.tar.gz": "application/octet-stream",
	} {
		if got := mediaTypeOf(title); got != want {
			t.Errorf("%s: got %s, want %s", title, got, want)
		}
	}
}

// What a pull would refuse cannot be pushed.
func TestManifestRefusesWhatPullRefuses(t *testing.T) {
	for name, change := range map[string]func(*Artifact){
		"no layer":          func(a *Artifact) { a.Layers = nil },
		"module not first":  func(a *Artifact) { a.Layers[0], a.Layers[2] = a.Layers[2], a.Layers[0] },
		"layer escapes":     func(a *Artifact) { a.Layers[1].Title = "../x" },
		"layer is manifest": func(a *Artifact) { a.Layers[1].Title = "capability.json" },
		"bad UTF-8":         func(a *Artifact) { a.Layers[1].Title = "a\xff" },
		"config too large":  func(a *Artifact) { a.Config = bytes.Repeat([]byte(" "), maxConfig+1) },
		"module too large":  func(a *Artifact) { a.Layers[0].Size = MaxModule + 1 },
		"no digest":         func(a *Artifact) { a.Layers[0].Digest = "" },
	} {
		a := hello()
		change(&a)
		if _, _, err := a.Manifest(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
