package oci

import (
	"context"
	"errors"
	"io"
	"slices"
)

// Loaded is a bundle from an archive, whose bytes are all on this machine and verified.
// Its Reference is empty: no registry was asked.
type Loaded struct {
	Pulled
	Claimed    string   // the reference it is from, as the archive says; "" when it says none
	Signatures [][]byte // over its digest, as the archive says; nobody has verified them
}

// Load reads an archive, as Save or a program that writes OCI image layouts makes it,
// plain or compressed with zstd. What it returns lies in the cache in cacheDir. An
// archive that holds anything but bundles and what refers to them is refused as a whole.
func Load(ctx context.Context, r io.Reader, cacheDir string) ([]Loaded, error) {
	loaded, err := load(ctx, r, cacheDir)
	err = during("loading an archive", "", err)
	if e := (*Error)(nil); errors.As(err, &e) && e.Kind == KindDiskFull {
		e.Hint = "make room on the disk and try again" // no download is to continue
	}
	return loaded, err
}

func load(ctx context.Context, r io.Reader, cacheDir string) ([]Loaded, error) {
	if cacheDir == "" {
		return nil, fail(KindInvalid, "", "no folder is configured for downloads")
	}
	a, err := openArchive(ctx, r, cacheDir)
	if err != nil {
		return nil, err
	}
	defer a.close()
	list, err := a.index()
	if err != nil {
		return nil, err
	}
	found, err := a.sort(list)
	if err != nil {
		return nil, err
	}
	loaded := make([]Loaded, len(found))
	for i, b := range found {
		if loaded[i], err = a.keep(ctx, cache{cacheDir}, b); err != nil {
			return nil, err
		}
	}
	return loaded, nil
}

// index returns the entries of the layout's index.
func (a *archive) index() ([]entry, error) {
	var version string
	raw := a.small[layoutFile]
	if err := checkJSON(layoutFile, raw, MaxManifest); err != nil {
		return nil, fail(KindInvalid, hintNotArchive, "the archive is no OCI image layout: %w", err)
	}
	if err := decodeObject(raw, map[string]any{"imageLayoutVersion": &version}); err != nil || version != layoutVersion {
		return nil, fail(KindInvalid, hintNotArchive, "the layout has version %.100q, expected %s", version, layoutVersion)
	}
	list, mediaType, err := decodeIndex(a.small[layoutIndex])
	if err == nil && mediaType != mediaTypeIndex && mediaType != "" {
		err = fail(KindInvalid, hintNotArchive, "%s has media type %.100q", layoutIndex, mediaType)
	}
	return list, err
}

// found is one bundle of an archive.
type found struct {
	raw        []byte
	parsed     Parsed
	claimed    string
	signatures [][]byte
}

// sort tells bundles from signatures, each once. Of what else refers to something there
// is no use yet.
func (a *archive) sort(list []entry) ([]*found, error) {
	var bundles []*found
	byDigest, seen := map[string]*found{}, map[string]bool{}
	var signatures []attached
	for _, e := range list {
		if seen[e.digest] {
			continue
		}
		seen[e.digest] = true
		b, ref, err := a.classify(e)
		switch {
		case err != nil:
			return nil, err
		case b != nil:
			byDigest[e.digest], bundles = b, append(bundles, b)
		case ref.artifactType == SignatureType:
			signatures = append(signatures, ref)
		}
	}
	if len(bundles) == 0 {
		return nil, fail(KindInvalid, hintNotArchive, "the archive holds no bundle")
	}
	return bundles, a.assign(signatures, byDigest)
}

// classify reads a manifest: of a bundle, which is whole, or of what refers to something.
func (a *archive) classify(e entry) (*found, attached, error) {
	raw, err := a.blob(e.digest, MaxManifest)
	if err != nil {
		return nil, attached{}, err
	}
	parsed, err := ParseManifest(raw)
	if err == nil {
		return &found{raw: raw, parsed: parsed, claimed: claimedReference(e)}, attached{}, a.complete(parsed)
	}
	ref, notAttached := parseAttached(raw)
	if notAttached != nil || ref.subject == "" || ref.artifactType == bundleType {
		return nil, attached{}, err
	}
	return nil, ref, nil
}

// complete reports whether all of a bundle is there, before anything is kept.
func (a *archive) complete(p Parsed) error {
	blobs := p.Layers
	if p.Config.Data == nil {
		blobs = append(slices.Clone(blobs), p.Config)
	}
	for _, d := range blobs {
		if s, ok := a.blobs[d.Digest]; !ok || s.size != d.Size {
			return fail(KindInvalid, "fetch the archive again, or ask who made it", "the archive lacks %s with %d bytes, %.100q", d.Digest, d.Size, d.Title)
		}
	}
	return nil
}

// assign gives each bundle its signatures.
func (a *archive) assign(signatures []attached, bundles map[string]*found) error {
	for _, s := range signatures {
		b := bundles[s.subject]
		if b == nil {
			continue // of a bundle that is not here
		}
		if err := s.check(s.subject, SignatureType); err != nil {
			return fail(KindInvalid, hintNotArchive, "a signature of %s: %w", s.subject, err)
		}
		if len(b.signatures) == MaxReferrers {
			return fail(KindTooLarge, "", "%s has more than %d signatures", s.subject, MaxReferrers)
		}
		content := s.layer.Data
		if content == nil {
			var err error
			if content, err = a.blob(s.layer.Digest, s.layer.Size); err != nil {
				return err
			}
		}
		b.signatures = append(b.signatures, content)
	}
	return nil
}

// claimedReference is where a bundle is from, as the index says.
func claimedReference(e entry) string {
	var annotations map[string]string
	if err := decodeObject(e.raw, map[string]any{"annotations": &annotations}); err != nil {
		return ""
	}
	for _, key := range []string{annotationReference, annotationRefName} {
		if ref, err := ParseReference(annotations[key]); err == nil && (ref.Digest == "" || ref.Digest == e.digest) {
			return ref.String()
		}
	}
	return ""
}

// keep moves a bundle into the cache, as a pull would have.
func (a *archive) keep(ctx context.Context, c cache, b *found) (Loaded, error) {
	out := Loaded{Claimed: b.claimed, Signatures: b.signatures}
	out.Digest, out.Manifest, out.Config = b.parsed.Digest, b.raw, b.parsed.Config.Data
	if err := c.room(withContents(b.parsed.Layers)); err != nil {
		return out, err
	}
	if _, err := a.toCache(ctx, c, Descriptor{Digest: out.Digest, Size: int64(len(b.raw))}); err != nil {
		return out, err
	}
	if out.Config == nil {
		if _, err := a.toCache(ctx, c, b.parsed.Config); err != nil {
			return out, err
		}
		var err error
		if out.Config, err = a.blob(b.parsed.Config.Digest, maxConfig); err != nil {
			return out, err
		}
	}
	for _, d := range b.parsed.Layers {
		path, err := a.toCache(ctx, c, d)
		if err == nil && d.compressed() {
			path, err = c.decompress(ctx, d, path)
		}
		if err != nil {
			return out, err
		}
		out.Layers = append(out.Layers, Stored{Title: d.Title, Digest: d.Content.Digest, Size: d.Content.Size, Path: path})
	}
	return out, nil
}

func (a *archive) toCache(ctx context.Context, c cache, d Descriptor) (string, error) {
	return c.ensure(ctx, d, func(f *blobFile) error {
		_, err := io.Copy(f, a.open(a.blobs[d.Digest]))
		return err
	})
}
