package capabilities

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/stoppable"
	"github.com/aircoding/air/oci"
)

// Place copies a bundle into the store. Placing what is there already changes only
// which bundle was placed last and where that came from; a reference that it was pulled
// from earlier, and signatures that were found with it, stay. It runs nothing and enables nothing.
func (s *Store) Place(ctx context.Context, b *Bundle, source Source) (Installed, error) {
	return s.PlaceAsked(ctx, b, source, "")
}

// PlaceAsked is Place for a source that was asked for by a name which may come to mean
// something else, see Installed.Asked.
func (s *Store) PlaceAsked(ctx context.Context, b *Bundle, source Source, asked string) (Installed, error) {
	c := content{raw: b.raw, digest: b.Digest, config: b.Manifest.Canonical(), layers: b.layers}
	return s.place(ctx, c, Installed{CapabilityID: b.Manifest.CapabilityID, Source: source, Asked: asked})
}

// PlacePulled copies a pulled bundle into the store, with signatures that were found for
// its digest: nobody has verified them. Its bytes are checked once more, and that they are
// a valid bundle, before it can be seen there.
func (s *Store) PlacePulled(ctx context.Context, p oci.Pulled, signatures [][]byte) (Installed, error) {
	return s.PlaceFrom(ctx, p, Source{Kind: "registry", RegistryID: p.Registry, Package: p.Repository, Version: p.Tag}, signatures)
}

// PlaceFrom is PlacePulled for bundles of another origin, such as an archive. Only of a
// registry the reference counts: elsewhere it is a claim of whoever wrote it. What was
// pulled by digest has a source without a version: nobody asked for a tag.
func (s *Store) PlaceFrom(ctx context.Context, p oci.Pulled, source Source, signatures [][]byte) (Installed, error) {
	m, err := ParseManifest(p.Config)
	if err != nil {
		return Installed{}, err
	}
	c := content{raw: p.Manifest, digest: p.Digest, config: p.Config}
	for _, l := range p.Layers {
		c.layers = append(c.layers, oci.Layer{Title: l.Title, Digest: l.Digest, Size: l.Size, Open: func() (io.ReadCloser, error) { return os.Open(l.Path) }})
	}
	i := Installed{CapabilityID: m.CapabilityID, Source: source, Signatures: signatures}
	if source.Kind == "registry" {
		i.Reference = p.Reference
	}
	return s.place(ctx, c, i)
}

// content is a bundle on its way into the store.
type content struct {
	raw    []byte // the OCI manifest
	digest string
	config []byte
	layers []oci.Layer
}

func (s *Store) place(ctx context.Context, c content, i Installed) (Installed, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return Installed{}, err
	}
	defer unlock()
	i.SchemaVersion, i.Digest, i.PlacedAt = 1, c.digest, time.Now().UTC()
	i.Dir = s.path(i.CapabilityID, i.Digest)
	before := s.listed(i.CapabilityID, i.Digest)
	i.Signatures = joined(i.Signatures, before.Signatures)
	i.Reference = cmp.Or(i.Reference, before.Reference)
	if err := s.placeLocked(ctx, c, &i); err != nil {
		return Installed{}, fault.IO("placing "+i.CapabilityID, err)
	}
	return i, nil
}

// placeLocked stages what is missing. What an error leaves in staging is removed at
// once, what a crash leaves there by the next Place.
func (s *Store) placeLocked(ctx context.Context, c content, i *Installed) error {
	staged, err := s.stage()
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(staged))
	if b, err := s.Verify(i.CapabilityID, i.Digest); err == nil {
		i.describe(b)
		return errors.Join(s.writeLast(*i), s.writeRecord(staged, *i))
	}
	return s.install(ctx, c, staged, i)
}

func (i *Installed) describe(b *Bundle) {
	i.Version, i.ManifestHash, i.ModuleSHA256, i.Tools = b.Manifest.Version, b.ManifestHash, b.ModuleSHA256, b.Manifest.ToolNames()
}

// install fills the staged folder, checks it as it will be checked on every load, and
// moves it to its place, where a damaged bundle of the same digest may lie.
func (s *Store) install(ctx context.Context, c content, staged string, i *Installed) error {
	if err := c.write(ctx, staged); err != nil {
		return err
	}
	b, err := verifyDir(staged, i.CapabilityID, i.Digest)
	if err != nil {
		return err
	}
	if err := b.prove(); err != nil {
		return err
	}
	i.describe(b)
	if err := s.writeRecord(staged, *i); err != nil { // without its bundle a record is not looked at
		return err
	}
	if err := s.writeLast(*i); err != nil { // neither is what names it as the last
		return err
	}
	if _, err := os.Lstat(i.Dir); err == nil {
		if err := os.Rename(i.Dir, staged+".damaged"); err != nil {
			return err
		}
	}
	if err := os.Rename(staged, i.Dir); err != nil {
		return err
	}
	return errors.Join(atomicfile.SyncDir(filepath.Dir(i.Dir)), atomicfile.SyncDir(s.dir))
}

// write puts all files of the bundle into dir, through to the disk.
func (c content) write(ctx context.Context, dir string) error {
	files := append([]oci.Layer{memoryLayer(manifestJSON, c.config), memoryLayer(ociFile, c.raw)}, c.layers...)
	for _, l := range files {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := writeLayer(ctx, dir, l); err != nil {
			return err
		}
	}
	return nil
}

// writeLayer copies one file. Titles were checked with the OCI manifest; os.Root keeps
// even a wrong one inside.
func writeLayer(ctx context.Context, dir string, l oci.Layer) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.FromSlash(l.Title)
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	from, err := l.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, copyErr := io.Copy(io.MultiWriter(to, sum), io.LimitReader(stoppable.Reader(ctx, from), l.Size+1))
	if err := errors.Join(copyErr, to.Sync(), to.Close()); err != nil {
		return err
	}
	if got := "sha256:" + hex.EncodeToString(sum.Sum(nil)); got != l.Digest {
		return changed("%s changed while it was copied: got %s, want %s", l.Title, got, l.Digest).WithHint("try again")
	}
	return nil
}

// prove checks the module of a bundle whose files were verified.
func (b *Bundle) prove() error {
	module, err := readLayer(b.layers[0])
	if err != nil {
		return err
	}
	if got := canon.Digest(module); got != b.layers[0].Digest {
		return changed("module %s changed while it was read: got %s, want %s", b.module, got, b.layers[0].Digest)
	}
	return prove(b.module, module, b.Manifest.Entrypoint.ABI)
}
