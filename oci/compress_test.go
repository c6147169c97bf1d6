package oci

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/aircoding/air/internal/canon"
)

var compressed = PushOptions{Compress: "zstd"}

func TestCompressedModule(t *testing.T) {
	everyRegistry(t, func(t *testing.T, s *server) {
		c := plainClient(t)
		pushed, err := c.Push(context.Background(), s.ref(":1"), big(), compressed)
		if err != nil {
			t.Fatal(err)
		}
		if _, raw, _ := big().Manifest(); raw == pushed.Digest {
			t.Error("the digest is that of the uncompressed bundle")
		}
		s.sabotage(nil)
		for _, ref := range []string{s.ref(":1"), pushed.Reference} {
			got, err := c.Pull(context.Background(), ref)
			if err != nil {
				t.Fatal(err)
			}
			wantContents(t, got, big())
			if got.Digest != pushed.Digest || canon.Digest(got.Manifest) != pushed.Digest {
				t.Errorf("pulled %s, want %s", got.Digest, pushed.Digest)
			}
			parsed, err := ParseManifest(got.Manifest)
			if err != nil {
				t.Fatal(err)
			}
			module := big().Layers[0]
			if l := parsed.Layers[0]; l.MediaType != "application/vnd.air.module.v1+zstd" || l.Size >= module.Size || l.Content != (Content{module.Digest, module.Size}) {
				t.Errorf("layer 0 is %+v", l)
			}
			if l := parsed.Layers[1]; l.Content != (Content{l.Digest, l.Size}) {
				t.Errorf("layer 1 is %+v", l)
			}
		}
		// By digest all of it is here; the blob itself too, for whoever saves the bundle.
		if n := s.count("/v2/me/hello/"); n != 4 {
			t.Errorf("%d requests, want manifest and 3 blobs: %q", n, s.requests)
		}
		wantWhole(t, c.options.CacheDir)
	})
}

// wantContents is wantBundle without the manifest.
func wantContents(t *testing.T, p Pulled, a Artifact) {
	t.Helper()
	for i, l := range a.ordered() {
		content, err := os.ReadFile(p.Layers[i].Path)
		if got := p.Layers[i]; err != nil || got.Title != l.Title || got.Digest != l.Digest || got.Size != l.Size || canon.Digest(content) != l.Digest {
			t.Errorf("layer %d: got %+v, want %s, %v", i, got, l.Title, err)
		}
	}
}

// Two versions of the library compress to different bytes: that is the same bundle.
func TestPushOfWhatWasCompressedOtherwise(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	module, err := readWhole(big().Layers[0])
	if err != nil {
		t.Fatal(err)
	}
	other := big()
	other.Layers[0] = packedLayer(module, zstdOf(t, module, zstd.SpeedFastest))
	first := mustPush(t, c, s.ref(":1"), other)
	again, err := c.Push(context.Background(), s.ref(":1"), big(), compressed)
	if err != nil || !again.Existed || again.Digest != first.Digest || again.Reference != first.Reference {
		t.Errorf("got %+v, %v, want %s to be there", again, err, first.Digest)
	}
	_, err = c.Push(context.Background(), s.ref(":1"), hello(), compressed)
	wantError(t, err, KindConflict, "--force")
	_, err = c.Push(context.Background(), s.ref(":1"), big(), PushOptions{})
	wantError(t, err, KindConflict, "--force") // the uncompressed bundle has another name
	_, err = c.Push(context.Background(), s.ref(":2"), big(), PushOptions{Compress: "gzip"})
	wantError(t, err, KindInvalid, "zstd")
}

func zstdOf(t *testing.T, content []byte, level zstd.EncoderLevel) []byte {
	t.Helper()
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level))
	if err != nil {
		t.Fatal(err)
	}
	return encoder.EncodeAll(content, nil)
}

func packedLayer(content, packed []byte) Layer {
	l := bytesLayer("module.wasm", packed)
	l.MediaType, l.Content = MediaTypeModuleZstd, Content{canon.Digest(content), int64(len(content))}
	return l
}

// The program zstd reads what AIR compressed.
func TestZstdReadsIt(t *testing.T) {
	program, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("zstd is missing: apt-get install zstd")
	}
	a, err := big().compress()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := readWhole(a.Layers[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-dc")
	cmd.Stdin = bytes.NewReader(packed)
	out, err := cmd.Output()
	if err != nil || canon.Digest(out) != big().Layers[0].Digest {
		t.Errorf("zstd gave %d bytes, %v", len(out), err)
	}
}

// bomb is a zstd frame that becomes so many bytes of zero: blocks of 128 KiB that are one
// byte repeated (RFC 8878, 3.1.1).
func bomb(size int64) []byte {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38} // magic; no size; window 128 KiB
	const block = 128 << 10
	for size > 0 {
		n := min(size, block)
		size -= n
		header := n<<3 | 1<<1
		if size == 0 {
			header |= 1
		}
		frame = append(frame, byte(header), byte(header>>8), byte(header>>16), 0)
	}
	return frame
}

// G16: a layer that decompresses to 100 GiB, and others that are not what they promise.
func TestG16CompressedLayers(t *testing.T) {
	content := bytes.Repeat([]byte("\x00asm\x01\x00\x00\x00"), 1000)
	good := zstdOf(t, content, zstd.SpeedDefault)
	random := make([]byte, 64<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	zeros := sha256.New()
	_, _ = zeros.Write(make([]byte, MaxModule))
	tooLong := packedLayer(content, bomb(100<<30))
	tooLong.Content = Content{"sha256:" + hex.EncodeToString(zeros.Sum(nil)), MaxModule}
	wide := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xb0}, bomb(1000)[6:]...) // window 4 GiB
	for name, layer := range map[string]Layer{
		"100 GiB that promise 8000 bytes": packedLayer(content, bomb(100<<30)),
		"100 GiB that promise 32 MiB":     tooLong,
		"cut short":                       packedLayer(content, good[:len(good)-3]),
		"changed":                         packedLayer(content, append(bytes.Clone(good[:len(good)-5]), 1, 2, 3, 4, 5)),
		"other content":                   packedLayer(content, zstdOf(t, bytes.Repeat([]byte("x"), len(content)), zstd.SpeedDefault)),
		"too little":                      packedLayer(content, zstdOf(t, content[1:], zstd.SpeedDefault)),
		"something behind it":             packedLayer(content, append(bytes.Clone(good), "more"...)),
		"no zstd":                         packedLayer(content, random),
		"nothing":                         packedLayer(content, nil),
		"a window of 4 GiB":               packedLayer(make([]byte, 1000), wide),
	} {
		t.Run(name, func(t *testing.T) {
			s, c := newServer(t), plainClient(t)
			a := hello()
			a.Layers[0] = layer
			mustPush(t, c, s.ref(":1"), a)
			for range 2 {
				_, err := c.Pull(context.Background(), s.ref(":1"))
				wantError(t, err, KindIntegrity, "do not use this bundle")
			}
			wantWhole(t, c.options.CacheDir)
			if left, _ := filepath.Glob(filepath.Join(c.options.CacheDir, "sha256", "*"+partialSuffix)); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

// One frame may follow the other, and frames may be skipped (RFC 8878, 3.1.2).
func TestSeveralFrames(t *testing.T) {
	content := bytes.Repeat([]byte("\x00asm\x01\x00\x00\x00"), 1000)
	packed := append(zstdOf(t, content[:100], zstd.SpeedDefault), 0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3)
	packed = append(packed, zstdOf(t, content[100:], zstd.SpeedDefault)...)
	s, c := newServer(t), plainClient(t)
	a := hello()
	a.Layers[0] = packedLayer(content, packed)
	mustPush(t, c, s.ref(":1"), a)
	got, err := c.Pull(context.Background(), s.ref(":1"))
	if err != nil {
		t.Fatal(err)
	}
	a.Layers[0] = bytesLayer("module.wasm", content)
	wantContents(t, got, a)
}

func TestManifestOfACompressedModule(t *testing.T) {
	digest := strings.Repeat("a", 64)
	with := func(mediaType, annotations string) string {
		return strings.Replace(strings.Replace(goldenManifest, `"application/wasm"`, `"`+mediaType+`"`, 1),
			`"annotations":{"org.opencontainers.image.title":"module.wasm"`, `"annotations":{"org.opencontainers.image.title":"module.wasm"`+annotations, 1)
	}
	annotations := func(digest, size string) string {
		return fmt.Sprintf(`,"dev.air.content.digest":%q,"dev.air.content.size":%q`, digest, size)
	}
	sum := "sha256:" + digest
	if p, err := ParseManifest([]byte(with(MediaTypeModuleZstd, annotations(sum, "7")))); err != nil || p.Layers[0].Content != (Content{sum, 7}) {
		t.Errorf("%+v %v", p, err)
	}
	for name, c := range map[string]struct {
		manifest, want string
		kind           Kind
	}{
		"no annotations":    {with(MediaTypeModuleZstd, ""), "layer 0: dev.air.content.size", KindInvalid},
		"no digest":         {with(MediaTypeModuleZstd, annotations("", "7")), "no sha256 digest", KindInvalid},
		"not a digest":      {with(MediaTypeModuleZstd, annotations("md5:0", "7")), "sha256 digest", KindInvalid},
		"negative":          {with(MediaTypeModuleZstd, annotations(sum, "-1")), "number of bytes", KindInvalid},
		"hexadecimal":       {with(MediaTypeModuleZstd, annotations(sum, "0x7")), "number of bytes", KindInvalid},
		"leading zero":      {with(MediaTypeModuleZstd, annotations(sum, "07")), "number of bytes", KindInvalid},
		"too large":         {with(MediaTypeModuleZstd, annotations(sum, fmt.Sprint(MaxModule+1))), "limit", KindTooLarge},
		"beyond int64":      {with(MediaTypeModuleZstd, annotations(sum, "99999999999999999999")), "number of bytes", KindInvalid},
		"of a plain module": {with(MediaTypeModule, annotations(sum, "7")), "not compressed", KindInvalid},
		"two sizes":         {with(MediaTypeModuleZstd, annotations(hello().Layers[2].Digest, "7")), "two sizes", KindInvalid},
		"another layer":     {strings.Replace(with(MediaTypeModule, ""), `"text/markdown"`, `"`+MediaTypeModuleZstd+`"`, 1), "layer 1", KindInvalid},
	} {
		_, err := ParseManifest([]byte(c.manifest))
		wantError(t, err, c.kind, "")
		if err == nil || name != "no digest" && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v does not say %q", name, err, c.want)
		}
	}
}

func TestModuleThatChangesWhileItIsCompressed(t *testing.T) {
	s, c := newServer(t), plainClient(t)
	a := hello()
	a.Layers[0].Open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("\x00asm\x02\x00\x00\x00")), nil }
	_, err := c.Push(context.Background(), s.ref(":1"), a, compressed)
	wantError(t, err, KindIntegrity, "push again")
}
