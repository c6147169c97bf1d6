package capabilities

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/oci"
)

var sampleSource = Source{Kind: "local_path", Path: "/src/acme-csv"}

func place(t testing.TB, s *Store, b *Bundle) Installed {
	t.Helper()
	i, err := s.Place(t.Context(), b, sampleSource)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestPlaceAndVerify(t *testing.T) {
	s, b := OpenStore(filepath.Join(t.TempDir(), "capabilities")), openSample(t)
	i := place(t, s, b)
	if i.Digest != b.Digest || i.Version != "1.2.0" || i.Source != sampleSource || i.ModuleSHA256 != b.ModuleSHA256 || i.ManifestHash != b.ManifestHash {
		t.Errorf("recorded was %+v", i)
	}
	v, err := s.Verify("acme-csv", b.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if v.Digest != b.Digest || v.ModuleSHA256 != b.ModuleSHA256 || v.ManifestHash != b.ManifestHash || len(v.Files()) != 4 {
		t.Errorf("loaded was %+v", v)
	}
	if _, digest, err := v.Artifact().Manifest(); err != nil || digest != b.Digest {
		t.Errorf("pushed from the store it would be %s (%v)", digest, err)
	}
	got, err := s.Get("acme-csv", "")
	if err != nil || !reflect.DeepEqual(got, i) && !got.PlacedAt.Equal(i.PlacedAt) {
		t.Errorf("got %+v, %v, want %+v", got, err, i)
	}
	if entries, err := os.ReadDir(filepath.Join(s.dir, stagingDir)); err == nil {
		t.Errorf("staging is left with %v", entries)
	}
}

// TestG14ChangedBytes: any byte that changes after placing, in any file, is seen by
// the next load, with the time of the file put back.
func TestG14ChangedBytes(t *testing.T) {
	b := openSample(t)
	names := append(b.Files(), manifestJSON, ociFile)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			s := OpenStore(t.TempDir())
			i := place(t, s, b)
			path := filepath.Join(i.Dir, filepath.FromSlash(name))
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			content[len(content)/2] ^= 1
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
			_, err = s.Verify("acme-csv", b.Digest)
			wantFault(t, err, fault.Integrity, "bundle_changed", filepath.Base(name))
			if !strings.Contains(fault.From(err).Hint, "pull or install it again") {
				t.Errorf("no way out is shown: %q", fault.From(err).Hint)
			}
			place(t, s, b) // which is the way out
			if _, err := s.Verify("acme-csv", b.Digest); err != nil {
				t.Errorf("placing again did not mend it: %v", err)
			}
		})
	}
}

func TestVerifyRefusesOtherChanges(t *testing.T) {
	b := openSample(t)
	for name, change := range map[string]func(t *testing.T, dir string){
		"a file more":     func(t *testing.T, dir string) { addFiles(t, dir, map[string]string{"docs/new.md": "x"}) },
		"a file less":     remove("HELP.md"),
		"nothing left":    remove(""),
		"a link":          link("module.wasm"),
		"a linked folder": link("docs"),
		"a pipe": func(t *testing.T, dir string) {
			path := filepath.Join(dir, "module.wasm")
			if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Fatal(err)
			}
		},
		"another's record": func(t *testing.T, dir string) { rewriteOCI(t, dir) },
	} {
		t.Run(name, func(t *testing.T) {
			s := OpenStore(t.TempDir())
			i := place(t, s, b)
			change(t, i.Dir)
			if _, err := s.Verify("acme-csv", b.Digest); err == nil || name != "a linked folder" && !fault.Is(err, fault.Integrity) {
				t.Fatalf("got %v, want integrity", err) // through a linked folder nothing is read: an error of the system
			}
			place(t, s, b)
			if _, err := s.Verify("acme-csv", b.Digest); err != nil {
				t.Errorf("placing again did not mend it: %v", err)
			}
		})
	}
}

// rewriteOCI makes manifest and files fit each other again, under another digest.
func rewriteOCI(t *testing.T, dir string) {
	other := withVersion(t, "9.9.9")
	addFiles(t, dir, map[string]string{ociFile: string(other.raw), manifestJSON: string(other.Manifest.Canonical())})
}

func TestPlaceAgainIsLast(t *testing.T) {
	s := OpenStore(t.TempDir())
	one, two := withVersion(t, "1.0.0"), withVersion(t, "2.0.0")
	place(t, s, one)
	place(t, s, two)
	if last, err := s.Get("acme-csv", ""); err != nil || last.Version != "2.0.0" {
		t.Errorf("last placed is %s, %v", last.Version, err)
	}
	place(t, s, one)
	if last, err := s.Get("acme-csv", ""); err != nil || last.Version != "1.0.0" {
		t.Errorf("after placing 1.0.0 again the last is %s, %v", last.Version, err)
	}
	if got, err := s.Get("acme-csv", two.Digest[:20]); err != nil || got.Digest != two.Digest {
		t.Errorf("by a short digest: %v, %v", got.Digest, err)
	}
	_, err := s.Get("acme-csv", "sha256:0000000000")
	wantFault(t, err, fault.NotFound, "not_installed", "not as")
	_, err = s.Get("other", "")
	wantFault(t, err, fault.NotFound, "not_installed", "other")
	_, err = s.Get("../acme-csv", "")
	wantFault(t, err, fault.InvalidInput, "bad_name", "..")
}

func TestListIgnoresWhatIsNoBundle(t *testing.T) {
	s := OpenStore(t.TempDir())
	if all, err := s.List(); err != nil || len(all) != 0 {
		t.Errorf("an empty store lists %v, %v", all, err)
	}
	i := place(t, s, openSample(t))
	addFiles(t, s.dir, map[string]string{
		".staging/new-1/capability.json": "{}", "acme-csv/" + strings.Repeat("0", 64) + ".json": "{}", "README": "x", "acme-csv/notes.txt": "x", "acme-csv/abc/x": "", "Upper/x/y": "",
	})
	all, err := s.List()
	if err != nil || len(all) != 1 || all[0].Digest != i.Digest {
		t.Errorf("listed are %+v, %v", all, err)
	}
}

func TestRemove(t *testing.T) {
	s := OpenStore(t.TempDir())
	one, two := place(t, s, withVersion(t, "1.0.0")), place(t, s, withVersion(t, "2.0.0"))
	if err := s.Remove(t.Context(), "acme-csv", one.Digest); err != nil {
		t.Fatal(err)
	}
	if all, err := s.List(); err != nil || len(all) != 1 || all[0].Digest != two.Digest {
		t.Errorf("left are %+v, %v", all, err)
	}
	wantFault(t, s.Remove(t.Context(), "acme-csv", one.Digest), fault.NotFound, "not_installed", "acme-csv")
	if err := s.Remove(t.Context(), "acme-csv", two.Digest); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "acme-csv")); err == nil {
		t.Error("an empty folder is left")
	}
}

// TestStopWaitingForTheStore: another air may hold the lock for long.
func TestStopWaitingForTheStore(t *testing.T) {
	s, b := OpenStore(t.TempDir()), openSample(t)
	i := place(t, s, b)
	unlock, err := home.Lock(t.Context(), filepath.Join(s.dir, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = s.Place(ctx, b, sampleSource)
	wantFault(t, err, fault.Timeout, "deadline", "locking")
	wantFault(t, s.Remove(ctx, "acme-csv", i.Digest), fault.Timeout, "deadline", "locking")
}

func TestTwoPlacesAtOnce(t *testing.T) {
	dir, b, other := t.TempDir(), openSample(t), withVersion(t, "3.0.0")
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			which := b
			if n%2 == 1 {
				which = other
			}
			if _, err := OpenStore(dir).Place(context.Background(), which, sampleSource); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := OpenStore(dir)
	for _, digest := range []string{b.Digest, other.Digest} {
		if _, err := s.Verify("acme-csv", digest); err != nil {
			t.Error(err)
		}
	}
	if all, err := s.List(); err != nil || len(all) != 2 {
		t.Errorf("listed are %d, %v", len(all), err)
	}
}

func TestPlaceEndsWithItsContext(t *testing.T) {
	s := OpenStore(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Place(ctx, openSample(t), sampleSource)
	if fault.From(err).Kind != fault.Cancelled {
		t.Errorf("got %v", err)
	}
	if all, err := s.List(); err != nil || len(all) != 0 {
		t.Errorf("listed are %v, %v", all, err)
	}
}

func TestPlaceFileChangedUnderway(t *testing.T) {
	s, b := OpenStore(t.TempDir()), openSample(t)
	addFiles(t, b.Dir, map[string]string{"docs/guide/one.md": "Two.\n"})
	_, err := s.Place(t.Context(), b, sampleSource)
	wantFault(t, err, fault.Integrity, "bundle_changed", "docs/guide/one.md")
	if all, err := s.List(); err != nil || len(all) != 0 {
		t.Errorf("listed are %v, %v", all, err)
	}
}

// TestPlaceWhileUsed: placing what is there does not disturb who loads it.
func TestPlaceWhileUsed(t *testing.T) {
	s, b := OpenStore(t.TempDir()), openSample(t)
	place(t, s, b)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 30 {
			if _, err := s.Place(t.Context(), b, sampleSource); err != nil {
				t.Error(err)
			}
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if _, err := s.Verify("acme-csv", b.Digest); err != nil {
			t.Fatal(err)
		}
	}
}

// pulled is an artifact as oci.Client.Pull returns it.
func pulled(t testing.TB, a oci.Artifact, raw []byte) oci.Pulled {
	t.Helper()
	p := oci.Pulled{
		Reference: "localhost:5000/acme/csv:latest", Registry: "localhost:5000", Repository: "acme/csv", Tag: "latest",
		Digest: canon.Digest(raw), Manifest: raw, Config: a.Config,
	}
	dir := t.TempDir()
	for n, l := range a.Layers {
		content, err := readLayer(l)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprint(n)
		addFiles(t, dir, map[string]string{name: string(content)})
		p.Layers = append(p.Layers, oci.Stored{Title: l.Title, Digest: l.Digest, Size: l.Size, Path: filepath.Join(dir, name)})
	}
	return p
}

func TestPlacePulled(t *testing.T) {
	s, b := OpenStore(t.TempDir()), openSample(t)
	i, err := s.PlacePulled(t.Context(), pulled(t, b.Artifact(), b.raw), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Source{Kind: "registry", RegistryID: "localhost:5000", Package: "acme/csv", Version: "latest"}
	if i.Digest != b.Digest || i.Source != want || i.Reference != "localhost:5000/acme/csv:latest" {
		t.Errorf("recorded was %+v", i)
	}
	p := pulled(t, b.Artifact(), b.raw)
	p.Tag = ""
	if i, err = s.PlacePulled(t.Context(), p, nil); err != nil || i.Source.String() != "registry localhost:5000/acme/csv" {
		t.Errorf("pulled by digest the source is %q (%v): nobody asked for a tag", i.Source, err)
	}
}

// TestPlacePulledForeign: another tool may spell the OCI manifest otherwise. Its bytes
// are what the digest names, so they are kept.
func TestPlacePulledForeign(t *testing.T) {
	s, b := OpenStore(t.TempDir()), openSample(t)
	raw := append([]byte(" "), b.raw...)
	i, err := s.PlacePulled(t.Context(), pulled(t, b.Artifact(), raw), nil)
	if err != nil {
		t.Fatal(err)
	}
	if i.Digest != canon.Digest(raw) {
		t.Errorf("placed as %s", i.Digest)
	}
	if _, err := s.Verify("acme-csv", i.Digest); err != nil {
		t.Error(err)
	}
}

func TestPlacePulledRefusals(t *testing.T) {
	b := openSample(t)
	for _, c := range []struct {
		name    string
		change  func(a *oci.Artifact)
		message string
	}{
		{"a layer that is no file of a bundle", func(a *oci.Artifact) {
			a.Layers = append(a.Layers, memoryLayer("source.json", []byte("{}")))
		}, "no file of a bundle"},
		{"a layer in place of the module", func(a *oci.Artifact) {
			a.Layers[0] = memoryLayer("other.wasm", minimalModule)
		}, "not the module"},
		{"a module that is none", func(a *oci.Artifact) {
			a.Layers[0] = memoryLayer("module.wasm", []byte("<html>"))
		}, "module"},
		{"a manifest with blanks", func(a *oci.Artifact) { a.Config = []byte(sampleManifest) }, "canonical"},
		{"an invalid manifest", func(a *oci.Artifact) { a.Config = []byte(`{}`) }, "is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := b.Artifact()
			a.Layers = append([]oci.Layer{}, a.Layers...)
			c.change(&a)
			a.Layers[0].MediaType = oci.MediaTypeModule
			raw, _, err := a.Manifest()
			if err != nil {
				t.Fatal(err)
			}
			s := OpenStore(t.TempDir())
			_, err = s.PlacePulled(t.Context(), pulled(t, a, raw), nil)
			if err == nil || !strings.Contains(err.Error(), c.message) || fault.From(err).Kind != fault.InvalidInput {
				t.Errorf("got %v, want %q", err, c.message)
			}
			if all, err := s.List(); err != nil || len(all) != 0 {
				t.Errorf("listed are %v, %v", all, err)
			}
		})
	}
}

// TestG20LayerNamedLikeTheManifest: such a layer would replace what was consented to.
func TestG20LayerNamedLikeTheManifest(t *testing.T) {
	for _, title := range []string{"capability.json", "CAPABILITY.md", "Capability.JSON"} {
		b := openSample(t)
		a := b.Artifact()
		a.Layers = append(append([]oci.Layer{}, a.Layers...), memoryLayer(title, []byte("{}")))
		if _, _, err := a.Manifest(); err == nil {
			t.Errorf("a layer titled %s makes an artifact", title)
		}
	}
}

// TestCrashWhilePlacing kills a process in the middle of Place, again and again: the
// bundle is there as a whole or not listed, and the next Place cleans up.
func TestCrashWhilePlacing(t *testing.T) {
	if dir := os.Getenv("AIR_TEST_PLACE"); dir != "" {
		placeForEver(t, dir)
	}
	files := sampleFiles()
	for n := range 8 {
		files[fmt.Sprintf("assets/%d.bin", n)] = strings.Repeat(string(rune('a'+n)), 1<<20)
	}
	src := writeFiles(t, files)
	big, err := OpenDir(src)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := OpenStore(dir)
	sawStaging := false
	for round := range 4 {
		killPlacing(t, src, dir, time.Duration(1+round*4)*time.Millisecond)
		if _, err := os.Stat(filepath.Join(dir, stagingDir)); err == nil {
			sawStaging = true
		}
		all, err := s.List()
		if err != nil || len(all) > 1 {
			t.Fatalf("listed are %v, %v", all, err)
		}
		if len(all) == 1 {
			if _, err := s.Verify("acme-csv", big.Digest); err != nil {
				t.Fatalf("half a bundle is listed: %v", err)
			}
		}
		small := place(t, s, openSample(t)) // cleans up
		if _, err := os.Stat(filepath.Join(dir, stagingDir)); err == nil {
			t.Fatal("what the dead process left is still there")
		}
		if err := s.Remove(t.Context(), "acme-csv", small.Digest); err != nil {
			t.Fatal(err)
		}
		if len(all) == 1 {
			if err := s.Remove(t.Context(), "acme-csv", big.Digest); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !sawStaging {
		t.Log("no round was killed while it copied") // timing: the other checks still hold
	}
}

// killPlacing starts a process that places and removes a bundle for ever, and kills it
// some time after it began.
func killPlacing(t *testing.T, src, dir string, after time.Duration) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestCrashWhilePlacing$")
	c.Env = append(os.Environ(), "AIR_TEST_PLACE="+dir, "AIR_TEST_SOURCE="+src)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = out.Read(make([]byte, 1)) // it is about to place
	time.Sleep(after)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // killed: always an error
}

func placeForEver(t *testing.T, dir string) {
	b, err := OpenDir(os.Getenv("AIR_TEST_SOURCE"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("ready")
	for {
		place(t, OpenStore(dir), b)
		if err := OpenStore(dir).Remove(t.Context(), "acme-csv", b.Digest); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkVerify3MB(b *testing.B) {
	s := OpenStore(b.TempDir())
	files := sampleFiles()
	files["assets/data"] = strings.Repeat("x", 3<<20)
	bundle, err := OpenDir(writeFiles(b, files))
	if err != nil {
		b.Fatal(err)
	}
	place(b, s, bundle)
	for b.Loop() {
		if _, err := s.Verify("acme-csv", bundle.Digest); err != nil {
			b.Fatal(err)
		}
	}
}
