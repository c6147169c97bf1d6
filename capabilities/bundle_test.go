package capabilities

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/oci"
)

func TestOpenDir(t *testing.T) {
	b := openSample(t)
	if want := []string{"module.wasm", "HELP.md", "docs/guide/one.md", "schemas/row.json"}; !slices.Equal(sorted(b.Files()), sorted(want)) {
		t.Errorf("files are %v, want %v", b.Files(), want)
	}
	if "sha256:"+b.ModuleSHA256 != canon.Digest(minimalModule) || b.ManifestHash != b.Manifest.Hash() {
		t.Error("wrong hashes")
	}
	raw, digest, err := b.Artifact().Manifest()
	if err != nil || digest != b.Digest {
		t.Errorf("the artifact has the digest %s, the bundle %s (%v)", digest, b.Digest, err)
	}
	parsed, err := oci.ParseManifest(raw)
	if err != nil || parsed.Layers[0].Title != "module.wasm" || parsed.Layers[0].MediaType != oci.MediaTypeModule || parsed.Config.Digest != b.ManifestHash {
		t.Errorf("the artifact is %+v (%v)", parsed, err)
	}
	for _, l := range b.Artifact().Layers {
		content, err := readLayer(l)
		if err != nil || canon.Digest(content) != l.Digest || int64(len(content)) != l.Size {
			t.Errorf("%s is not what it was hashed as: %v", l.Title, err)
		}
	}
	if help, err := b.Help(); err != nil || string(help) != "# Help\n" {
		t.Errorf("help is %q, %v", help, err)
	}
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// TestTwoFoldersOneDigest: neither the folder, nor its times, nor what lies there
// besides, nor the manifest's form has a part in the digest.
// TestLongFileName: what a registry may hold, a bundle may: nothing is downloaded to be
// refused for its name.
func TestLongFileName(t *testing.T) {
	files := sampleFiles()
	name := "docs/" + strings.Repeat(strings.Repeat("d", 200)+"/", 3) + "x.md"
	files[name] = "x"
	b, err := OpenDir(writeFiles(t, files))
	if err != nil || !slices.Contains(b.Files(), name) {
		t.Fatal(err)
	}
	place(t, OpenStore(t.TempDir()), b)
}

func TestTwoFoldersOneDigest(t *testing.T) {
	want := openSample(t).Digest
	files := sampleFiles()
	for _, name := range []string{"main.go", "go.mod", ".git/config", "testdata/x", "source.json", "oci-manifest.json"} {
		files[name] = "stays behind"
	}
	delete(files, "capability.json")
	delete(files, "HELP.md")
	files["CAPABILITY.md"] = frontMatter + "# Help\n"
	b, err := OpenDir(writeFiles(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if b.Digest != want {
		t.Errorf("got %s, want %s", b.Digest, want)
	}
	files["docs/guide/one.md"] += " "
	if b, err = OpenDir(writeFiles(t, files)); err != nil || b.Digest == want {
		t.Errorf("another text has the same digest (%v)", err)
	}
}

func TestOpenDirRefusals(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(t *testing.T, dir string)
		code    string
		message string
	}{
		{"both manifests", func(t *testing.T, dir string) { addFiles(t, dir, map[string]string{"CAPABILITY.md": frontMatter}) }, "bad_bundle", "has both"},
		{"no manifest", remove("capability.json"), "bad_bundle", "no manifest"},
		{"invalid manifest", func(t *testing.T, dir string) { addFiles(t, dir, map[string]string{"capability.json": "{}"}) }, "bad_manifest", "capability.json"},
		{"no module", remove("module.wasm"), "no_module", "module.wasm"},
		{"module that is none", func(t *testing.T, dir string) {
			addFiles(t, dir, map[string]string{"module.wasm": "<html>not found</html>"})
		}, "bad_module", "module.wasm"},
		{"module cut short", func(t *testing.T, dir string) {
			addFiles(t, dir, map[string]string{"module.wasm": string(minimalModule[:20])})
		}, "bad_module", "module.wasm"},
		{"module that imports env.system", func(t *testing.T, dir string) {
			addFiles(t, dir, map[string]string{"module.wasm": string(importing("env", "system"))})
		}, "bad_module", "env"},
		{"module over 32 MiB", func(t *testing.T, dir string) { grow(t, filepath.Join(dir, "module.wasm"), 32<<20+1) }, "bad_bundle", "more than 33554432 bytes"},
		{"file over 64 MiB", func(t *testing.T, dir string) { grow(t, filepath.Join(dir, "docs", "guide", "one.md"), 64<<20+1) }, "bad_bundle", "more than 67108864 bytes"},
		{"too many files", manyFiles, "bad_bundle", "more than 128 files"},
		{"linked manifest", link("capability.json"), "bad_bundle", "symbolic link"},
		{"linked module", link("module.wasm"), "bad_bundle", "symbolic link"},
		{"linked help", link("HELP.md"), "bad_bundle", "symbolic link"},
		{"linked document", link("docs/guide/one.md"), "bad_bundle", "symbolic link"},
		{"linked folder inside", link("docs/guide"), "bad_bundle", "symbolic link"},
		{"linked folder", link("docs"), "bad_bundle", "no folder"},
		{"dangling link", func(t *testing.T, dir string) { symlink(t, "/nowhere", filepath.Join(dir, "docs", "x")) }, "bad_bundle", "symbolic link"},
		{"file for a folder", func(t *testing.T, dir string) { addFiles(t, dir, map[string]string{"assets": "x"}) }, "bad_bundle", "no folder"},
		{"folder for the manifest", func(t *testing.T, dir string) {
			remove("capability.json")(t, dir)
			addFiles(t, dir, map[string]string{"capability.json/x": ""})
		}, "bad_bundle", "no regular file"},
		{"pipe", func(t *testing.T, dir string) {
			if err := syscall.Mkfifo(filepath.Join(dir, "docs", "pipe"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "bad_bundle", "no regular file"},
		{"backslash in a name", func(t *testing.T, dir string) { addFiles(t, dir, map[string]string{`docs/a\b`: ""}) }, "bad_bundle", "backslash"},
		{"line break in a name", func(t *testing.T, dir string) { addFiles(t, dir, map[string]string{"docs/a\nb": ""}) }, "bad_bundle", "cannot be seen"},
		{"names that differ in case", func(t *testing.T, dir string) {
			addFiles(t, dir, map[string]string{"docs/a.md": "", "docs/A.md": ""})
		}, "bad_bundle", "repeats"},
		{"help twice", func(t *testing.T, dir string) {
			remove("capability.json")(t, dir)
			addFiles(t, dir, map[string]string{"CAPABILITY.md": frontMatter + "more help"})
		}, "bad_bundle", "help text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := writeFiles(t, sampleFiles())
			c.change(t, dir)
			_, err := OpenDir(dir)
			wantFault(t, err, fault.InvalidInput, c.code, c.message)
		})
	}
	_, err := OpenDir(filepath.Join(t.TempDir(), "nowhere"))
	wantFault(t, err, fault.NotFound, "no_folder", "nowhere")
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// link puts a symbolic link to the same content in a file's or folder's place.
func link(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		moved := filepath.Join(t.TempDir(), "moved")
		if err := os.Rename(filepath.Join(dir, filepath.FromSlash(name)), moved); err != nil {
			t.Fatal(err)
		}
		symlink(t, moved, filepath.Join(dir, filepath.FromSlash(name)))
	}
}

func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// grow makes a file large without writing it.
func grow(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func manyFiles(t *testing.T, dir string) {
	files := map[string]string{}
	for i := range 130 {
		files["assets/"+strings.Repeat("a", i+1)] = ""
	}
	addFiles(t, dir, files)
}

// importing is the minimal module with one import, a function of type 0.
func importing(module, name string) []byte {
	entry := []byte{1, byte(len(module))}
	entry = append(entry, module...)
	entry = append(entry, byte(len(name)))
	entry = append(entry, name...)
	entry = append(entry, 0, 0)
	section := append([]byte{2, byte(len(entry))}, entry...)
	typesEnd := 8 + 8
	out := slices.Concat(minimalModule[:typesEnd], section, minimalModule[typesEnd:])
	return bytes.Replace(out, []byte("air_call\x00\x00"), []byte("air_call\x00\x01"), 1)
}

func TestReadManifestNeedsNoModule(t *testing.T) {
	dir := writeFiles(t, map[string]string{"capability.json": sampleManifest})
	m, err := ReadManifest(dir)
	if err != nil || m.Entrypoint.Module != "module.wasm" {
		t.Errorf("got %v, %v", m, err)
	}
}

func TestBareModule(t *testing.T) {
	dir := writeFiles(t, map[string]string{"x.wasm": string(minimalModule), "bad.wasm": "no module"})
	symlink(t, "x.wasm", filepath.Join(dir, "linked.wasm")) // the person names it: links are theirs
	for _, name := range []string{"x.wasm", "linked.wasm"} {
		b, err := BareModule(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if b.Manifest.CapabilityID != "local" || b.Digest != "" || "sha256:"+b.ModuleSHA256 != canon.Digest(minimalModule) {
			t.Errorf("%+v", b)
		}
	}
	_, err := BareModule(filepath.Join(dir, "bad.wasm"))
	wantFault(t, err, fault.InvalidInput, "bad_module", "bad.wasm")
	_, err = BareModule(filepath.Join(dir, "nowhere.wasm"))
	wantFault(t, err, fault.NotFound, "no_module", "nowhere.wasm")
	_, err = BareModule(dir)
	wantFault(t, err, fault.InvalidInput, "bad_bundle", "no regular file")
}

// TestFileReplacedByLinkIsNotFollowed: a link that took the place of a hashed file.
func TestFileReplacedByLinkIsNotFollowed(t *testing.T) {
	b := openSample(t)
	link("docs/guide/one.md")(t, b.Dir)
	for _, l := range b.Artifact().Layers {
		if l.Title != "docs/guide/one.md" {
			continue
		}
		r, err := l.Open()
		if err == nil {
			content, _ := io.ReadAll(r)
			t.Errorf("a link was followed: %q", content)
		}
	}
}
