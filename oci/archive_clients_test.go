package oci

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// savedFile is an archive of hello with a signature, as it is, as a plain tar file, and
// as a folder.
func savedFile(t *testing.T) (packed, plain, folder string) {
	t.Helper()
	dir := t.TempDir()
	packed, plain, folder = filepath.Join(dir, "hello.air"), filepath.Join(dir, "hello.tar"), filepath.Join(dir, "layout")
	archive := mustSave(t, "", kept(t, hello(), "registry.example/acme/hello:0.1.0", `{"a":1}`))
	putFile(t, packed, archive)
	putFile(t, plain, unzstd(t, archive))
	for _, e := range entriesOf(t, unzstd(t, archive)) {
		putFile(t, filepath.Join(folder, e.Name), e.content)
	}
	return packed, plain, folder
}

func putFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSkopeoReadsArchives(t *testing.T) {
	skopeo := tool(t, "skopeo")
	packed, plain, folder := savedFile(t)
	s := newServer(t)
	for i, from := range []string{"oci-archive:" + packed + ":0.1.0", "oci-archive:" + plain + ":0.1.0", "oci:" + folder + ":0.1.0"} {
		to := s.ref(":" + string(rune('a'+i)))
		run(t, skopeo, "--insecure-policy", "copy", "--dest-tls-verify=false", from, "docker://"+to)
		got, err := plainClient(t).Pull(context.Background(), to)
		if err != nil {
			t.Fatal(err)
		}
		wantBundle(t, got, hello())
	}
}

func TestLoadReadsSkopeosArchives(t *testing.T) {
	skopeo := tool(t, "skopeo")
	s := newServer(t)
	mustPush(t, plainClient(t), s.ref(":0.1.0"), hello())
	file := filepath.Join(t.TempDir(), "hello.tar")
	run(t, skopeo, "--insecure-policy", "copy", "--src-tls-verify=false", "docker://"+s.ref(":0.1.0"), "oci-archive:"+file+":registry.example/hello:1")
	archive, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	loaded := mustLoad(t, archive, t.TempDir())
	wantBundle(t, loaded[0].Pulled, hello())
	if loaded[0].Claimed != "registry.example/hello:1" {
		t.Errorf("claims %q", loaded[0].Claimed)
	}
}

// oras copies the bundle with its signature, from our archive into a registry and from
// there into a layout that Load reads.
func TestOrasAndArchives(t *testing.T) {
	oras := tool(t, "oras")
	_, plain, folder := savedFile(t)
	for _, from := range []string{plain, folder} {
		s := newServer(t)
		run(t, oras, "copy", "--recursive", "--from-oci-layout", from+":0.1.0", "--to-plain-http", s.ref(":1"))
		if got := contents(mustReferrers(t, plainClient(t), s)); !slices.Equal(got, []string{`{"a":1}`}) {
			t.Fatalf("oras copied the signatures %q", got)
		}
		layout := filepath.Join(t.TempDir(), "layout")
		run(t, oras, "copy", "--recursive", "--from-plain-http", s.ref(":1"), "--to-oci-layout", layout+":1")
		loaded := mustLoad(t, tarFolder(t, layout), t.TempDir())
		wantBundle(t, loaded[0].Pulled, hello())
		if len(loaded[0].Signatures) != 1 || string(loaded[0].Signatures[0]) != `{"a":1}` {
			t.Errorf("signatures %q", loaded[0].Signatures)
		}
	}
}

// tarFolder packs the files of a layout with tar itself.
func tarFolder(t *testing.T, dir string) []byte {
	t.Helper()
	return run(t, "tar", "-C", dir, "-c", "oci-layout", "index.json", "blobs")
}

func TestCraneReadsLayouts(t *testing.T) {
	crane := tool(t, "crane")
	_, _, folder := savedFile(t)
	s := newServer(t)
	run(t, crane, "push", "--insecure", "--index", folder, s.ref(":all"))
	got, err := plainClient(t).Pull(context.Background(), s.ref("@"+goldenDigest))
	if err != nil {
		t.Fatal(err)
	}
	wantBundle(t, got, hello())
}

func TestOrasDiscoversWhatIsAttached(t *testing.T) {
	oras := tool(t, "oras")
	eachRegistry(t, func(t *testing.T, s *server) {
		if strings.Contains(t.Name(), ",_") {
			t.Skip("oras believes what this registry says of itself")
		}
		mustPush(t, plainClient(t), s.ref(":0.1.0"), hello())
		digest := mustAttach(t, plainClient(t), s, Signature([]byte(`{"a":1}`)))
		out := run(t, oras, "discover", "--plain-http", "--format", "json", "--artifact-type", SignatureType, s.ref(":0.1.0"))
		if !bytes.Contains(out, []byte(digest)) {
			t.Errorf("oras discovers %s, want %s", out, digest)
		}
		// And what oras attaches, AIR reads.
		dir := t.TempDir()
		putFile(t, filepath.Join(dir, "b.json"), []byte(`{"b":2}`))
		cmd := exec.CommandContext(t.Context(), oras, "attach", "--plain-http", "--artifact-type", SignatureType, s.ref(":0.1.0"), "b.json:"+SignatureType)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("oras attach: %v\n%s", err, out)
		}
		if got := contents(mustReferrers(t, plainClient(t), s)); !slices.Equal(got, []string{`{"a":1}`, `{"b":2}`}) {
			t.Errorf("got %q", got)
		}
	})
}
