package capabilities

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/oci"
)

// Verify loads an installed bundle and compares all of its bytes with the digest: it
// hashes every file each time, whatever the clock of the file system says. The
// manifest was validated when the bundle was placed, and the digest says that it is
// the same one.
func (s *Store) Verify(id, digest string) (*Bundle, error) {
	if !capabilityName.MatchString(id) || !oci.ValidDigest(digest) {
		return nil, fault.New(fault.InvalidInput, "bad_name", "%.80s@%.80s names no installed bundle", id, digest)
	}
	b, err := verifyDir(s.path(id, digest), id, digest)
	if fault.Is(err, fault.InvalidInput) { // it was valid when it was placed
		return nil, pullAgain(changed("%s@%s: %w", id, digest, err))
	}
	return b, err
}

func verifyDir(dir, id, digest string) (*Bundle, error) {
	b, err := loadInstalled(dir, digest)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = changed("%s@%s: %w", id, digest, err)
		}
		return nil, pullAgain(fault.IO("reading "+id, err))
	}
	if b.Manifest.CapabilityID != id {
		return nil, changed("the bundle %s is %s, not %s", digest, b.Manifest.CapabilityID, id)
	}
	return b, nil
}

// pullAgain says how to get the right bytes back.
func pullAgain(err error) error {
	if known := fault.From(err); known.Kind == fault.Integrity && known.Hint == "" {
		return known.WithHint("do not use it; pull or install it again, which puts the right bytes in place")
	}
	return err
}

// loadInstalled reads a folder by the OCI manifest in it, which the digest names.
func loadInstalled(dir, digest string) (*Bundle, error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, changed("%w", err)
	}
	defer f.close()
	raw, err := f.read(ociFile, oci.MaxManifest)
	if err != nil {
		return nil, err
	}
	if got := canon.Digest(raw); got != digest {
		return nil, changed("%s: got %s, want %s", f.path(ociFile), got, digest)
	}
	parsed, err := oci.ParseManifest(raw)
	if err != nil {
		return nil, changed("%s: %w", f.path(ociFile), err)
	}
	b := &Bundle{Digest: digest, Dir: f.dir, raw: raw}
	if b.Manifest, err = f.config(parsed.Config); err != nil {
		return nil, err
	}
	b.ManifestHash = b.Manifest.Hash()
	if err := f.verifyLayers(b, parsed.Layers); err != nil {
		return nil, err
	}
	return b, f.nothingElse(b)
}

// config reads the capability manifest, which is the artifact's config.
func (f *folder) config(d oci.Descriptor) (*Manifest, error) {
	text, err := f.read(manifestJSON, maxManifest)
	if err != nil {
		return nil, err
	}
	if got := canon.Digest(text); got != d.Digest {
		return nil, changed("%s: got %s, want %s", f.path(manifestJSON), got, d.Digest)
	}
	canonical, err := canon.JSON(text)
	if err != nil || !bytes.Equal(canonical, text) {
		return nil, badBundle("the manifest of %s is not in canonical form: %v", d.Digest, err).WithHint("push the bundle with air push")
	}
	m, err := decodeManifest(text)
	if err != nil {
		return nil, badBundle("the manifest of %s: %w", d.Digest, err)
	}
	return m, nil
}

func (f *folder) verifyLayers(b *Bundle, layers []oci.Descriptor) error {
	var total int64
	for i, d := range layers {
		if i > 0 && d.Title != helpFile && !inBundleFolder(d.Title) {
			return badBundle("the layer %.100q is no file of a bundle: want %s and what lies in %s", d.Title, helpFile, strings.Join(bundleFolders, ", "))
		}
		l, err := f.hash(d.Title, &total)
		if err != nil {
			return err
		}
		if l.Digest != d.Content.Digest { // installed is what a layer holds, decompressed
			return changed("%s: got %s, want %s", f.path(d.Title), l.Digest, d.Content.Digest)
		}
		if l.MediaType = d.MediaType; d.MediaType == oci.MediaTypeModuleZstd {
			l.MediaType = oci.MediaTypeModule
		}
		b.layers = append(b.layers, l)
		if i == 0 {
			total = 0 // the module has a limit of its own
		}
	}
	module := layers[0]
	if e := b.Manifest.Entrypoint; e == nil || e.Module != module.Title {
		return badBundle("the first layer is %.100q, which is not the module that the manifest names", module.Title)
	}
	b.ModuleSHA256 = strings.TrimPrefix(module.Content.Digest, "sha256:")
	b.module = f.path(module.Title)
	return nil
}

// nothingElse refuses files that the digest does not cover.
func (f *folder) nothingElse(b *Bundle) error {
	known := map[string]bool{manifestJSON: true, ociFile: true}
	for _, l := range b.layers {
		known[l.Title] = true
	}
	return fs.WalkDir(f.root.FS(), ".", func(at string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !known[at] {
			return changed("%s is not part of the bundle", f.path(at))
		}
		return err
	})
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }
