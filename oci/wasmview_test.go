package oci

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/canon"
)

// By hand, after https://tag-runtime.cncf.io/wgs/wasm/deliverables/wasm-oci-artifact/: the
// digest of the one layer is that of hello's module in goldenManifest.
const (
	goldenWasmConfig   = `{"created":"1970-01-01T00:00:00Z","architecture":"wasm","os":"wasip1","layerDigests":["sha256:93a44bbb96c751218e4c00d479e4c14358122a389acca16205b1e4d0dc5f9476"]}`
	goldenWasmManifest = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",` +
		`"config":{"mediaType":"application/vnd.wasm.config.v0+json","digest":"sha256:CONFIG","size":161},` +
		`"layers":[{"mediaType":"application/wasm","digest":"sha256:93a44bbb96c751218e4c00d479e4c14358122a389acca16205b1e4d0dc5f9476","size":8,"annotations":{"org.opencontainers.image.title":"module.wasm"}}],` +
		`"annotations":{"org.opencontainers.image.description":"says hello","org.opencontainers.image.title":"hello","org.opencontainers.image.version":"0.1.0"}}`
)

func wantWasmManifest() string {
	sum := sha256.Sum256([]byte(goldenWasmConfig))
	return strings.ReplaceAll(goldenWasmManifest, "CONFIG", hex.EncodeToString(sum[:]))
}

func mustPushView(t *testing.T, c *Client, ref string, o PushOptions) Pushed {
	t.Helper()
	p, err := c.PushWasmView(context.Background(), ref, hello(), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWasmViewIsReadByOthers(t *testing.T) {
	crane, oras := tool(t, "crane"), tool(t, "oras")
	host := served(t)
	ref := host + "/me/hello:0.1.0"
	p := mustPushView(t, plainClient(t), ref, PushOptions{})
	raw := strings.TrimSpace(string(run(t, crane, "manifest", "--insecure", ref+"-wasm")))
	if raw != wantWasmManifest() || p.Digest != canon.Digest([]byte(raw)) || p.Existed {
		t.Errorf("crane read %s, pushed was %+v", raw, p)
	}
	if got := run(t, crane, "config", "--insecure", ref+"-wasm"); strings.TrimSpace(string(got)) != goldenWasmConfig {
		t.Errorf("crane read the config %s", got)
	}
	dir := t.TempDir()
	run(t, oras, "pull", "--plain-http", "-o", dir, ref+"-wasm")
	if module, err := os.ReadFile(filepath.Join(dir, "module.wasm")); string(module) != "\x00asm\x01\x00\x00\x00" {
		t.Errorf("oras pulled %q, %v", module, err)
	}
	var fetched struct{ ArtifactType string }
	text := run(t, oras, "manifest", "fetch", "--plain-http", "--format", "json", ref+"-wasm")
	if err := json.Unmarshal(text, &fetched); err != nil || !strings.Contains(string(text), mediaTypeWasmConfig) {
		t.Errorf("oras fetched %s, %v", text, err)
	}
	// The bundle beside it is as it was, and the view is none.
	if got, err := plainClient(t).Pull(context.Background(), ref); err != nil || got.Digest != goldenDigest {
		t.Errorf("the bundle is %s, %v", got.Digest, err)
	}
	_, err := plainClient(t).Pull(context.Background(), ref+"-wasm")
	wantError(t, err, KindInvalid, "")
}

// The module is in the registry already; only configuration and manifest are sent. A second
// time nothing is, and another module does not take the tag by itself.
func TestWasmViewSharesTheModule(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	mustPush(t, c, s.ref(":1"), hello())
	s.sabotage(nil)
	mustPushView(t, c, s.ref(":1"), PushOptions{})
	if got := s.count("POST"); got != 1 {
		t.Errorf("%d blobs were sent: %q", got, s.requests)
	}
	s.sabotage(nil)
	if p := mustPushView(t, c, s.ref(":1"), PushOptions{}); !p.Existed || s.count("POST")+s.count("PUT") != 0 {
		t.Errorf("a second push sent %q", s.requests)
	}
	_, err := c.PushWasmView(context.Background(), s.ref(":1"), big(), PushOptions{})
	wantError(t, err, KindConflict, "--force")
	if _, err := c.PushWasmView(context.Background(), s.ref(":1"), big(), PushOptions{Force: true}); err != nil {
		t.Error(err)
	}
	// Also beside a compressed bundle it is the raw module.
	if p := mustPushView(t, c, s.ref(":2"), PushOptions{Compress: "zstd"}); p.Digest != canon.Digest([]byte(wantWasmManifest())) {
		t.Errorf("beside a compressed bundle it is %s", p.Digest)
	}
}

func TestWasmViewNeedsATag(t *testing.T) {
	c := plainClient(t)
	for ref, hint := range map[string]string{
		"127.0.0.1:1/a@" + goldenDigest:             "tag",
		"127.0.0.1:1/a:" + strings.Repeat("x", 124): "shorter",
	} {
		_, err := c.PushWasmView(context.Background(), ref, hello(), PushOptions{})
		wantError(t, err, KindInvalid, hint)
	}
	if ref, err := WasmView("127.0.0.1:1/a:" + strings.Repeat("x", 123)); err != nil || len(ref.Tag) != 128 {
		t.Errorf("the longest tag that fits gave %v, %v", ref, err)
	}
}
