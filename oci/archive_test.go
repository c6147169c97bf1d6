package oci

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/aircoding/air/internal/canon"
)

// kept is an artifact with signatures on its way into an archive.
func kept(t testing.TB, a Artifact, reference string, signatures ...string) Kept {
	t.Helper()
	raw, _, err := a.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	k := Kept{Reference: reference, Manifest: raw, Config: a.Config, Layers: a.Layers}
	for _, s := range signatures {
		k.Signatures = append(k.Signatures, []byte(s))
	}
	return k
}

func mustSave(t testing.TB, cacheDir string, bundles ...Kept) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Save(context.Background(), &out, cacheDir, bundles...); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func mustLoad(t *testing.T, archive []byte, cacheDir string) []Loaded {
	t.Helper()
	loaded, err := Load(context.Background(), bytes.NewReader(archive), cacheDir)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func TestSaveAndLoad(t *testing.T) {
	second := hello()
	second.Version = "0.2.0"
	first := kept(t, hello(), "oci://Registry.Example/acme/hello:0.1.0", `{"a":1}`, `{"b":2}`, `{"a":1}`)
	archive := mustSave(t, "", first, kept(t, second, ""), first)
	dir := t.TempDir()
	loaded := mustLoad(t, archive, dir)
	if len(loaded) != 2 {
		t.Fatalf("got %d bundles", len(loaded))
	}
	wantBundle(t, loaded[0].Pulled, hello())
	wantBundle(t, loaded[1].Pulled, second)
	if got := loaded[0].Signatures; len(got) != 2 || string(got[0]) != `{"a":1}` || string(got[1]) != `{"b":2}` {
		t.Errorf("signatures %q", got)
	}
	if len(loaded[1].Signatures) != 0 {
		t.Errorf("signatures of another bundle: %q", loaded[1].Signatures)
	}
	if loaded[0].Claimed != "registry.example/acme/hello:0.1.0" || loaded[1].Claimed != "" || loaded[0].Reference != "" || loaded[0].Registry != "" {
		t.Errorf("claims %q, %q", loaded[0].Claimed, loaded[1].Claimed)
	}
	wantWhole(t, dir)
	wantNoRest(t, dir)
}

// What Load leaves is what a pull leaves: with the registry gone, a pull by digest works.
func TestALoadedBundleNeedsNoRegistry(t *testing.T) {
	dir := t.TempDir()
	mustLoad(t, mustSave(t, "", kept(t, hello(), "")), dir)
	c := newClient(t, Options{CacheDir: dir})
	got, err := c.Pull(context.Background(), "registry.invalid/acme/hello@"+goldenDigest)
	if err != nil || got.Contacted {
		t.Fatalf("contacted %v, %v", got.Contacted, err)
	}
	wantBundle(t, got, hello())
}

// A compressed module is saved as it was pulled: its digest is in the bundle's.
func TestSaveAndLoadCompressed(t *testing.T) {
	s := newServer(t)
	dir := t.TempDir()
	c := newClient(t, Options{PlainHTTP: true, CacheDir: dir})
	if _, err := c.Push(context.Background(), s.ref(":0.1.0"), big(), PushOptions{Compress: "zstd"}); err != nil {
		t.Fatal(err)
	}
	pulled, err := c.Pull(context.Background(), s.ref(":0.1.0"))
	if err != nil {
		t.Fatal(err)
	}
	k := kept(t, big(), s.ref(":0.1.0"))
	k.Manifest = pulled.Manifest
	loaded := mustLoad(t, mustSave(t, dir, k), t.TempDir())
	if loaded[0].Digest != pulled.Digest || loaded[0].Layers[0].Digest != big().Layers[0].Digest {
		t.Errorf("loaded %+v, want %+v", loaded[0], pulled)
	}
	content, err := os.ReadFile(loaded[0].Layers[0].Path)
	if err != nil || canon.Digest(content) != big().Layers[0].Digest {
		t.Errorf("the module is %s, %v", canon.Digest(content), err)
	}
	err = Save(context.Background(), io.Discard, t.TempDir(), k)
	wantError(t, err, KindNotFound, "air pull")
}

// The same bytes on every machine; the names and their order are those of the format.
func TestArchiveBytes(t *testing.T) {
	archive := mustSave(t, "", kept(t, hello(), "registry.example/hello:0.1.0", `{"a":1}`))
	if again := mustSave(t, "", kept(t, hello(), "registry.example/hello:0.1.0", `{"a":1}`)); !bytes.Equal(archive, again) {
		t.Error("saved twice, two archives")
	}
	plain := unzstd(t, archive)
	entries := entriesOf(t, plain)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
		if e.Mode != 0o644 || e.ModTime.Unix() != 0 || e.Uid != 0 || e.Uname != "" || e.Typeflag != tar.TypeReg {
			t.Errorf("%+v", e.Header)
		}
	}
	if len(names) != 10 || names[0] != "oci-layout" || names[1] != "index.json" || !slices.IsSorted(names[2:]) {
		t.Errorf("names %q", names)
	}
	if string(entries[0].content) != `{"imageLayoutVersion":"1.0.0"}` {
		t.Errorf("oci-layout is %s", entries[0].content)
	}
	want := `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[` +
		`{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"` + goldenDigest + `","size":` + fmt.Sprint(len(goldenManifest)) + `,` +
		`"annotations":{"io.containerd.image.name":"registry.example/hello:0.1.0","org.opencontainers.image.ref.name":"0.1.0"},"artifactType":"application/vnd.air.bundle.v1"},`
	if !strings.HasPrefix(string(entries[1].content), want) {
		t.Errorf("index.json is %s, want it to begin %s", entries[1].content, want)
	}
	if got := mustLoad(t, plain, t.TempDir()); len(got) != 1 || len(got[0].Signatures) != 1 {
		t.Errorf("a plain tar file gives %+v", got)
	}
}

func TestSaveRefuses(t *testing.T) {
	changed := hello()
	changed.Layers[1].Open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(`{"type":"oddity"}`)), nil }
	short := hello()
	short.Layers[1].Open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }
	otherConfig := kept(t, hello(), "")
	otherConfig.Config = []byte("{}")
	incomplete := kept(t, hello(), "")
	incomplete.Layers = incomplete.Layers[:1]
	for name, c := range map[string]struct {
		kept []Kept
		kind Kind
	}{
		"nothing":         {nil, KindInvalid},
		"a changed layer": {[]Kept{kept(t, changed, "")}, KindIntegrity},
		"a short layer":   {[]Kept{kept(t, short, "")}, KindIntegrity},
		"another config":  {[]Kept{otherConfig}, KindIntegrity},
		"a lost layer":    {[]Kept{incomplete}, KindNotFound},
		"no manifest":     {[]Kept{{}}, KindInvalid},
		"signatures":      {[]Kept{kept(t, hello(), "", make([]string, MaxReferrers+1)...)}, KindTooLarge},
		"big signature":   {[]Kept{kept(t, hello(), "", strings.Repeat("x", MaxAttachment+1))}, KindTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			wantError(t, Save(context.Background(), &out, t.TempDir(), c.kept...), c.kind, "")
			if _, err := Load(context.Background(), &out, t.TempDir()); err == nil {
				t.Error("what was written is an archive")
			}
		})
	}
}

// tarEntry is one entry of a tar file.
type tarEntry struct {
	tar.Header
	content []byte
}

func entriesOf(t testing.TB, plain []byte) []tarEntry {
	t.Helper()
	var all []tarEntry
	for r := tar.NewReader(bytes.NewReader(plain)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tarEntry{*h, content})
	}
}

func tarOf(t testing.TB, entries ...tarEntry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		e.Format = 0
		if e.Typeflag == tar.TypeReg || e.Typeflag == 0 {
			e.Size = int64(len(e.content))
		}
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unzstd(t testing.TB, packed []byte) []byte {
	t.Helper()
	r, err := zstd.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// good returns the entries of an archive of hello with a signature.
func good(t testing.TB) []tarEntry {
	t.Helper()
	return entriesOf(t, unzstd(t, mustSave(t, "", kept(t, hello(), "registry.example/hello:0.1.0", `{"a":1}`))))
}

// wantNoRest checks that what was not wanted is gone from a cache.
func wantNoRest(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "sha256" && e.Name() != "locks" {
			t.Errorf("%s is left over", e.Name())
		}
	}
}

// refusedArchive checks that an archive is refused as a whole.
func refusedArchive(t *testing.T, archive io.Reader, kind Kind, text string) {
	t.Helper()
	dir := t.TempDir()
	_, err := Load(context.Background(), archive, dir)
	wantError(t, err, kind, "")
	if err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want it to mention %q", err, text)
	}
	wantNoRest(t, dir)
	if names, _ := filepath.Glob(filepath.Join(dir, "sha256", "*")); len(names) != 0 {
		t.Errorf("the cache has %q", names)
	}
}

// G16: no entry of an archive leads anywhere or is more than it says.
func TestG16HostileEntries(t *testing.T) {
	file := func(name, content string) tarEntry {
		return tarEntry{tar.Header{Name: name, Mode: 0o644, Typeflag: tar.TypeReg}, []byte(content)}
	}
	special := func(name string, kind byte, link string) tarEntry {
		return tarEntry{Header: tar.Header{Name: name, Typeflag: kind, Linkname: link}}
	}
	const a = "blobs/sha256/ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" // of "a", FIPS 180-4
	for name, c := range map[string]struct {
		entry tarEntry
		kind  Kind
		text  string
	}{
		"absolute":          {file("/etc/passwd", "x"), KindInvalid, "no part"},
		"absolute blob":     {file("/"+a, "a"), KindInvalid, "no part"},
		"parent":            {file("../x", "x"), KindInvalid, "no part"},
		"parent in a blob":  {file("blobs/sha256/../../../x", "x"), KindInvalid, "no part"},
		"twice a dot":       {file("././"+a, "a"), KindInvalid, "no part"},
		"backslash":         {file(`blobs\sha256\x`, "x"), KindInvalid, "no part"},
		"another file":      {file("manifest.json", "[]"), KindInvalid, "no part"},
		"a file in blobs":   {file("blobs/sha256/readme", "x"), KindInvalid, "no part"},
		"upper-case digest": {file(strings.Replace(a, "ca97", "CA97", 1), "a"), KindInvalid, "no part"},
		"sha512":            {file("blobs/sha512/"+strings.Repeat("0", 128), "a"), KindInvalid, "no part"},
		"ANSI in a name":    {file("\x1b[2J", "x"), KindInvalid, "no part"},
		"long name":         {file(strings.Repeat("a/", 20000)+"b", "x"), KindInvalid, "no part"},
		"symlink":           {special(a, tar.TypeSymlink, "/etc/passwd"), KindInvalid, "no regular file"},
		"hard link":         {special(a, tar.TypeLink, "index.json"), KindInvalid, "no regular file"},
		"link as the index": {special("index.json", tar.TypeSymlink, "/etc/passwd"), KindInvalid, "no regular file"},
		"device":            {special(a, tar.TypeChar, ""), KindInvalid, "no regular file"},
		"block device":      {special(a, tar.TypeBlock, ""), KindInvalid, "no regular file"},
		"pipe":              {special(a, tar.TypeFifo, ""), KindInvalid, "no regular file"},
		"a file in another": {file("ingest/x", "x"), KindInvalid, "no part"},
		"absolute folder":   {special("/tmp/", tar.TypeDir, ""), KindInvalid, "no regular file"},
		"parent folder":     {special("../", tar.TypeDir, ""), KindInvalid, "no regular file"},
		"wrong content":     {file(a, "b"), KindIntegrity, "digest mismatch"},
		"second index":      {file("index.json", "{}"), KindInvalid, "twice"},
		"second spelling":   {file("./oci-layout", "{}"), KindInvalid, "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			refusedArchive(t, bytes.NewReader(tarOf(t, append(good(t), c.entry)...)), c.kind, c.text)
			refusedArchive(t, bytes.NewReader(tarOf(t, append([]tarEntry{c.entry}, good(t)...)...)), c.kind, c.text)
		})
	}
}

func TestLoadAcceptsFoldersAndDots(t *testing.T) {
	entries := []tarEntry{}
	for _, dir := range []string{"./", "./blobs/", "./blobs/sha256/", "./ingest/"} {
		entries = append(entries, tarEntry{Header: tar.Header{Name: dir, Typeflag: tar.TypeDir, Mode: 0o755}})
	}
	for _, e := range good(t) {
		e.Name = "./" + e.Name
		entries = append(entries, e)
	}
	slices.Reverse(entries) // any order
	if got := mustLoad(t, tarOf(t, entries...), t.TempDir()); len(got) != 1 || got[0].Digest != goldenDigest {
		t.Errorf("got %+v", got)
	}
}

// edited returns the archive with the content of some entries replaced; "" removes one.
func edited(t testing.TB, changes map[string]string) []byte {
	t.Helper()
	var out []tarEntry
	for _, e := range good(t) {
		if content, ok := changes[e.Name]; ok {
			e.content = []byte(content)
		}
		if len(e.content) > 0 {
			out = append(out, e)
		}
		delete(changes, e.Name)
	}
	for name, content := range changes {
		out = append(out, tarEntry{tar.Header{Name: name, Mode: 0o644, Typeflag: tar.TypeReg}, []byte(content)})
	}
	return tarOf(t, out...)
}

func blobName(content string) string {
	return layoutBlobs + canon.Digest([]byte(content))[len("sha256:"):]
}

func TestLoadRefuses(t *testing.T) {
	index := func(contents ...string) map[string]string {
		var list []string
		changes := map[string]string{}
		for _, c := range contents {
			list = append(list, described(canon.Digest([]byte(c)), bundleType))
			changes[blobName(c)] = c
		}
		changes["index.json"] = `{"schemaVersion":2,"manifests":[` + strings.Join(list, ",") + `]}`
		return changes
	}
	const nested = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`
	otherData := strings.Replace(goldenManifest, `"data":"eyJpZCI6ImhlbGxvIiwidmVyc2lvbiI6IjAuMS4wIn0="`, `"data":"eyJpZCI6ImhlbGxPIiwidmVyc2lvbiI6IjAuMS4wIn0="`, 1)
	escaping := strings.Replace(goldenManifest, "HELP.md", "../HELP.md", 1)
	for name, c := range map[string]struct {
		changes map[string]string
		kind    Kind
		text    string
	}{
		"no layout":           {map[string]string{"oci-layout": ""}, KindInvalid, "no OCI image layout"},
		"another layout":      {map[string]string{"oci-layout": `{"imageLayoutVersion":"2.0.0"}`}, KindInvalid, "2.0.0"},
		"no index":            {map[string]string{"index.json": ""}, KindInvalid, "index"},
		"index no JSON":       {map[string]string{"index.json": "x"}, KindInvalid, "JSON"},
		"index is a manifest": {map[string]string{"index.json": goldenManifest}, KindInvalid, "media type"},
		"an empty index":      {map[string]string{"index.json": `{"schemaVersion":2,"manifests":[]}`}, KindInvalid, "no bundle"},
		"a digest not there":  {map[string]string{"index.json": `{"schemaVersion":2,"manifests":[{"digest":"../../etc/passwd"}]}`}, KindInvalid, "lacks"},
		"a lost layer":        {map[string]string{blobName("# hello\n"): ""}, KindInvalid, "lacks"},
		"a lost signature":    {map[string]string{blobName(`{"a":1}`): ""}, KindInvalid, "lacks"},
		"G20 nested index":    {index(nested), KindInvalid, "index stands"},
		"G20 other data":      {index(otherData), KindIntegrity, "inlined"},
		"G16 escaping title":  {index(escaping), KindInvalid, "title"},
		"an image":            {index(strings.Replace(goldenManifest, bundleType, "application/x", 1)), KindInvalid, "artifact type"},
		"a bad one beside":    {index(goldenManifest, escaping), KindInvalid, "title"},
	} {
		t.Run(name, func(t *testing.T) {
			refusedArchive(t, bytes.NewReader(edited(t, c.changes)), c.kind, c.text)
		})
	}
}

// G15: a signature that refers to another bundle does not come along with this one.
func TestG15SignatureOfAnotherBundleInAnArchive(t *testing.T) {
	raw, digest, err := Signature([]byte(`{"b":2}`)).manifest("sha256:"+strings.Repeat("b", 64), 7)
	if err != nil {
		t.Fatal(err)
	}
	sbom, sbomDigest, err := Attachment{ArtifactType: "application/spdx+json", MediaType: "text/plain", Content: []byte(`{"b":2}`)}.manifest(goldenDigest, 7)
	if err != nil {
		t.Fatal(err)
	}
	loaded := mustLoad(t, edited(t, map[string]string{
		blobName(string(raw)): string(raw), blobName(string(sbom)): string(sbom), blobName(`{"b":2}`): `{"b":2}`,
		"index.json": `{"schemaVersion":2,"manifests":[` + strings.Join([]string{
			described(goldenDigest, bundleType), described(digest, SignatureType), described(sbomDigest, SignatureType)}, ",") + `]}`,
	}), t.TempDir())
	if len(loaded) != 1 || len(loaded[0].Signatures) != 0 {
		t.Errorf("got %+v", loaded)
	}
}

// A claim of another bundle's reference by digest is no claim.
func TestClaimedReferenceOfAnotherDigest(t *testing.T) {
	loaded := mustLoad(t, mustSave(t, "", kept(t, hello(), "registry.example/x@sha256:"+strings.Repeat("b", 64))), t.TempDir())
	if loaded[0].Claimed != "" {
		t.Errorf("claims %s", loaded[0].Claimed)
	}
}

// nothing is a stream of n zero bytes after a prefix.
func nothing(prefix []byte, n int64) io.Reader {
	return io.MultiReader(bytes.NewReader(prefix), io.LimitReader(zeroReader{}, n))
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// packed compresses a stream as it is read.
func packed(t *testing.T, from io.Reader, o ...zstd.EOption) io.Reader {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() { _ = r.Close() })
	go func() {
		encoder, err := zstd.NewWriter(w, append(o, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))...)
		if err == nil {
			_, err = io.Copy(encoder, from)
			err = errors.Join(err, encoder.Close())
		}
		_ = w.CloseWithError(err)
	}()
	return r
}

// headerOf is the header of an entry of so many bytes, without them.
func headerOf(t *testing.T, name string, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := tar.NewWriter(&out).WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// G16: an archive that becomes 100 GiB ends at a limit, whichever way it gets there.
func TestG16Bombs(t *testing.T) {
	const huge = 100 << 30
	blob := layoutBlobs + strings.Repeat("0", 64)
	t.Run("one blob", func(t *testing.T) {
		refusedArchive(t, packed(t, nothing(headerOf(t, blob, huge), huge)), KindTooLarge, "limit")
	})
	t.Run("the index", func(t *testing.T) {
		refusedArchive(t, packed(t, nothing(headerOf(t, "index.json", huge), huge)), KindTooLarge, "limit")
	})
	t.Run("many blobs", func(t *testing.T) {
		file, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		a := archive{file: file, limit: 20 << 20, blobs: map[string]section{}, names: map[string]bool{}}
		defer a.close()
		err = a.readAll(packed(t, manyBlobs(t)))
		wantError(t, err, KindTooLarge, "")
		if err == nil || !strings.Contains(err.Error(), "decompresses to more than") || a.size != 19<<20 {
			t.Errorf("got %v after %d bytes", err, a.size)
		}
	})
	t.Run("many entries", func(t *testing.T) {
		folders := bytes.Repeat(folderHeader(t), maxArchiveEntries+1)
		refusedArchive(t, bytes.NewReader(folders), KindTooLarge, "entries")
	})
	t.Run("a window of 128 MiB", func(t *testing.T) {
		refusedArchive(t, packed(t, nothing(nil, 256<<20), zstd.WithWindowSize(128<<20)), KindInvalid, "window")
	})
	t.Run("a long name", func(t *testing.T) {
		long := append(headerOf(t, "x", 4<<20), bytes.Repeat([]byte("x"), 4<<20)...)
		long[156] = tar.TypeXHeader
		checksum(long[:512])
		refusedArchive(t, bytes.NewReader(long), KindInvalid, "cannot be read")
	})
}

func folderHeader(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := tar.NewWriter(&out).WriteHeader(&tar.Header{Name: "blobs/", Typeflag: tar.TypeDir, Mode: 0o755}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// manyBlobs is an endless tar file of whole blobs of 1 MiB.
func manyBlobs(t *testing.T) io.Reader {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() { _ = r.Close() })
	go func() {
		for i := 0; ; i++ {
			content := make([]byte, 1<<20)
			copy(content, fmt.Sprint(i))
			name := layoutBlobs + canon.Digest(content)[len("sha256:"):]
			var header bytes.Buffer
			_ = tar.NewWriter(&header).WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: 1 << 20, Typeflag: tar.TypeReg})
			if _, err := w.Write(append(header.Bytes(), content...)); err != nil {
				return
			}
		}
	}()
	return r
}

// Holes are bytes that an archive does not bring along.
func TestG16SparseEntries(t *testing.T) {
	e := tarEntry{tar.Header{Name: blobName("a"), Typeflag: tar.TypeReg, Mode: 0o644}, []byte("a")}
	old := tarOf(t, append([]tarEntry{e}, good(t)...)...)
	old[156] = tar.TypeGNUSparse
	copy(old[257:], "ustar  \x00")
	checksum(old[:512])
	refusedArchive(t, bytes.NewReader(old), KindInvalid, "")
}

// checksum writes the checksum of a tar header: the sum of its bytes with the field
// itself as spaces.
func checksum(header []byte) {
	copy(header[148:156], "        ")
	sum := 0
	for _, b := range header {
		sum += int(b)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
}

func TestLoadOfWhatIsNoArchive(t *testing.T) {
	whole := mustSave(t, "", kept(t, hello(), ""))
	for name, c := range map[string]struct {
		content []byte
		kind    Kind
	}{
		"nothing":      {nil, KindInvalid},
		"a short text": {[]byte("root:x:0:0\n"), KindInvalid},
		"text":         {[]byte(strings.Repeat("hello ", 500)), KindInvalid},
		"zstd of text": {zstdOf(t, []byte("root:x:0:0\n"), zstd.SpeedFastest), KindInvalid},
		"gzip":         {append([]byte("\x1f\x8b\x08"), make([]byte, 2000)...), KindInvalid},
		"cut zstd":     {whole[:len(whole)/2], KindIntegrity},
		"cut tar":      {unzstd(t, whole)[:1600], KindIntegrity},
		"broken zstd":  {append(slices.Clone(whole[:4]), bytes.Repeat([]byte{0xff}, 200)...), KindInvalid},
		"an empty tar": {tarOf(t), KindInvalid},
	} {
		t.Run(name, func(t *testing.T) { refusedArchive(t, bytes.NewReader(c.content), c.kind, "") })
	}
}

func TestLoadStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Load(ctx, bytes.NewReader(mustSave(t, "", kept(t, hello(), ""))), t.TempDir())
	wantError(t, err, KindCancelled, "")
	wantError(t, Save(ctx, io.Discard, "", kept(t, hello(), "")), KindCancelled, "")
}

// Whatever is loaded is whole, and nothing else happens.
func FuzzLoad(f *testing.F) {
	f.Add(mustSave(f, "", kept(f, hello(), "registry.example/hello:0.1.0", `{"a":1}`)))
	f.Add(tarOf(f, good(f)...))
	f.Add(edited(f, map[string]string{"index.json": `{"schemaVersion":2,"manifests":[{"digest":"x"}]}`}))
	f.Fuzz(func(t *testing.T, archive []byte) {
		dir := t.TempDir()
		loaded, err := Load(context.Background(), bytes.NewReader(archive), dir)
		wantNoRest(t, dir)
		wantWhole(t, dir)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Kind == "" {
				t.Fatalf("%v is no *Error with a kind", err)
			}
			return
		}
		for _, l := range loaded {
			if p, err := ParseManifest(l.Manifest); err != nil || p.Digest != l.Digest || canon.Digest(l.Config) != p.Config.Digest {
				t.Fatalf("loaded %+v, %v", l, err)
			}
		}
	})
}
