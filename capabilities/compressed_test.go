package capabilities

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/oci"
)

// A bundle whose module was compressed for a registry is installed decompressed; its
// digest covers both forms.
func TestInstalledFromACompressedModule(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- oci.Serve(ctx, oci.ServeOptions{Ready: func(addr string) { ready <- addr }}) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	b := openSample(t)
	client := oci.NewClient(oci.Options{PlainHTTP: true, CacheDir: t.TempDir()})
	pushed, err := client.Push(ctx, <-ready+"/me/sample:1", b.Artifact(), oci.PushOptions{Compress: "zstd"})
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := client.Pull(ctx, pushed.Reference)
	if err != nil {
		t.Fatal(err)
	}
	s := OpenStore(t.TempDir())
	placed, err := s.PlacePulled(ctx, pulled, nil)
	if err != nil {
		t.Fatal(err)
	}
	if placed.Digest != pushed.Digest || placed.Digest == b.Digest || placed.ModuleSHA256 != b.ModuleSHA256 || placed.ManifestHash != b.ManifestHash {
		t.Errorf("placed %+v, want the module %s", placed, b.ModuleSHA256)
	}
	installed, err := s.Verify(placed.CapabilityID, placed.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if _, digest, err := installed.Artifact().Manifest(); err != nil || digest != b.Digest {
		t.Errorf("as an artifact it is %s, want the uncompressed %s, %v", digest, b.Digest, err)
	}
	module := filepath.Join(placed.Dir, "module.wasm")
	content, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)-1] ^= 1
	if err := os.WriteFile(module, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Verify(placed.CapabilityID, placed.Digest); !fault.Is(err, fault.Integrity) {
		t.Errorf("G14: a changed module: %v", err)
	}
}
