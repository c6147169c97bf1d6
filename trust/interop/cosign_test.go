//go:build cosign

package interop

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/oci"
	"github.com/aircoding/air/trust"
)

const install = "go install github.com/sigstore/cosign/v3/cmd/cosign@v3.1.1"

// cosign runs the real program in an empty home folder, offline.
type cosign struct {
	*testing.T
	program, dir string
}

// newCosign finds it in $AIR_TOOLS, in .tools/bin of the repository, on PATH.
func newCosign(t *testing.T) cosign {
	t.Helper()
	c := cosign{T: t, dir: t.TempDir()}
	for _, dir := range []string{os.Getenv("AIR_TOOLS"), filepath.Join("..", "..", ".tools", "bin")} {
		path, err := filepath.Abs(filepath.Join(dir, "cosign"))
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); dir != "" && err == nil && info.Mode()&0o111 != 0 {
			c.program = path
			return c
		}
	}
	path, err := exec.LookPath("cosign")
	if err != nil {
		t.Skipf("cosign is missing: %s", install)
	}
	c.program = path
	return c
}

func (c cosign) run(args ...string) ([]byte, error) {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), c.program, args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"HOME=" + c.dir, "PATH=" + os.Getenv("PATH"), "COSIGN_PASSWORD=pw"}
	return cmd.CombinedOutput()
}

func (c cosign) must(args ...string) {
	c.Helper()
	if out, err := c.run(args...); err != nil {
		c.Fatalf("cosign %q: %v\n%s", args, err, out)
	}
}

func (c cosign) verify(key, reference string) ([]byte, error) {
	c.Helper()
	return c.run("verify", "--key", key, "--insecure-ignore-tlog", "--allow-http-registry", reference)
}

// sign signs without asking a log, a certificate authority or a TUF mirror.
func (c cosign) sign(key, reference string) {
	c.Helper()
	c.must("sign", "--key", key, "--allow-http-registry", "--use-signing-config=false", "--tlog-upload=false", "--yes", reference)
}

func (c cosign) write(name string, content []byte) string {
	c.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		c.Fatal(err)
	}
	return path
}

func (c cosign) read(name string) []byte {
	c.Helper()
	content, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.Fatal(err)
	}
	return content
}

func TestCosignVerifiesWhatWeSign(t *testing.T) {
	c := newCosign(t)
	client, host := registry(t)
	for _, algorithm := range []string{trust.ECDSA, trust.Ed25519} {
		k := newKey(t, algorithm)
		key := c.write("key.pub", k.Public().PEM())
		pushed := push(t, client, host+"/me/"+algorithm+":1")
		if out, err := c.verify(key, pushed.Reference); err == nil {
			t.Fatalf("%s: cosign verifies what is not signed: %s", algorithm, out)
		}
		if _, err := client.Attach(t.Context(), pushed.Reference, pushed.Digest, oci.Signature(signed(t, k, pushed.Digest))); err != nil {
			t.Fatal(err)
		}
		if out, err := c.verify(key, pushed.Reference); err != nil {
			t.Errorf("%s: %v\n%s", algorithm, err, out)
		}
		other := c.write("other.pub", newKey(t, algorithm).Public().PEM())
		if out, err := c.verify(other, pushed.Reference); err == nil {
			t.Errorf("%s: another key counts: %s", algorithm, out)
		}
	}
}

// G15: cosign, too, refuses a signature over another digest.
func TestCosignRefusesAReplay(t *testing.T) {
	c := newCosign(t)
	client, host := registry(t)
	k := newKey(t, "")
	pushed := push(t, client, host+"/me/hello:1")
	if _, err := client.Attach(t.Context(), pushed.Reference, pushed.Digest, oci.Signature(signed(t, k, digest))); err != nil {
		t.Fatal(err)
	}
	if out, err := c.verify(c.write("key.pub", k.Public().PEM()), pushed.Reference); err == nil {
		t.Errorf("cosign takes it: %s", out)
	}
}

// cosign's key signs, once with cosign and once with us; our key signs with cosign.
func TestWeVerifyWhatCosignSigns(t *testing.T) {
	c := newCosign(t)
	client, host := registry(t)
	c.must("generate-key-pair", "--output-key-prefix", "theirs")
	pushed := push(t, client, host+"/me/theirs:1")
	c.sign("theirs.key", pushed.Reference)
	wantSigned(t, client, pushed, c.read("theirs.pub"))

	read, err := trust.ReadPrivateKey(c.read("theirs.key"), []byte("pw"))
	if err != nil || !bytes.Equal(read.Public().PEM(), c.read("theirs.pub")) {
		t.Fatalf("cosign's key reads as %v, %v", read, err)
	}
	for _, algorithm := range []string{trust.ECDSA, trust.Ed25519} {
		k := newKey(t, algorithm)
		text, err := k.Encrypt([]byte("pw"))
		if err != nil {
			t.Fatal(err)
		}
		c.write("ours.key", text)
		pushed := push(t, client, host+"/me/"+algorithm+":1")
		c.sign("ours.key", pushed.Reference)
		wantSigned(t, client, pushed, k.Public().PEM())
	}
}

func wantSigned(t *testing.T, client *oci.Client, pushed oci.Pushed, key []byte) {
	t.Helper()
	found, err := client.Referrers(t.Context(), pushed.Reference, pushed.Digest, trust.MediaType)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d signatures, %v", len(found), err)
	}
	if why := weVerify(t, found[0].Content, pushed.Digest, key); why != "" {
		t.Errorf("%s\n%s", why, found[0].Content)
	}
}

// registry is our own, in memory, for the time of the test.
func registry(t *testing.T) (*oci.Client, string) {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir()) // nobody's credentials
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- oci.Serve(ctx, oci.ServeOptions{Ready: func(addr string) { ready <- addr }}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	select {
	case host := <-ready:
		return oci.NewClient(oci.Options{PlainHTTP: true, CacheDir: t.TempDir()}), host
	case <-time.After(10 * time.Second):
		t.Fatal("the registry does not start")
		return nil, ""
	}
}

// push stores a small bundle, another one for each reference.
func push(t *testing.T, client *oci.Client, reference string) oci.Pushed {
	t.Helper()
	module := "\x00asm\x01\x00\x00\x00"
	pushed, err := client.Push(t.Context(), reference, oci.Artifact{
		Config: []byte(`{"id":"hello","version":"0.1.0"}`), Title: "hello", Version: "0.1.0", Description: reference,
		Layers: []oci.Layer{{
			Title: "module.wasm", Digest: "sha256:93a44bbb96c751218e4c00d479e4c14358122a389acca16205b1e4d0dc5f9476", Size: int64(len(module)),
			Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(module)), nil },
		}},
	}, oci.PushOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pushed
}
