package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"cuelabs.dev/go/oci/ociregistry"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/canon"
)

// PushManifest writes the bytes, then the entry among its subject's referrers, then the
// manifest's own, then the tag: after a crash at any point what is named is there.
func (s *dirStore) PushManifest(ctx context.Context, repo, tag string, contents []byte, mediaType string) (ociregistry.Descriptor, error) {
	desc := ociregistry.Descriptor{MediaType: mediaType, Digest: digestOf(contents), Size: int64(len(contents))}
	entry, err := s.manifestPath(repo, desc.Digest)
	if err != nil {
		return desc, err
	}
	if err := checkMediaType(mediaType); err != nil {
		return desc, err
	}
	refs, err := s.checkReferences(ctx, repo, contents)
	if err != nil {
		return desc, err
	}
	if err := s.writeContents(desc, contents); err != nil {
		return desc, err
	}
	if subject := refs.subject(mediaType); subject != "" {
		if err := s.writeReferrer(repo, subject, refs.referrerOf(desc)); err != nil {
			return desc, err
		}
	}
	if err := s.writeEntry(entry, []byte(mediaType)); err != nil || tag == "" {
		return desc, err
	}
	path, err := s.tagPath(repo, tag)
	if err != nil {
		return desc, err
	}
	return desc, s.writeEntry(path, []byte(desc.Digest+"\n"))
}

const maxMediaType = 255 // bytes, RFC 6838 allows 127 on either side of the slash

// checkMediaType: a manifest comes back with the type it came with, which is none that a
// browser shows.
func checkMediaType(mediaType string) error {
	known, _, err := mime.ParseMediaType(mediaType)
	if err != nil || len(mediaType) > maxMediaType || !strings.HasPrefix(known, "application/") {
		return fmt.Errorf("%w: the content type is no media type of an application", ociregistry.ErrManifestInvalid)
	}
	return nil
}

// writeContents puts a manifest's bytes where those of blobs are.
func (s *dirStore) writeContents(desc ociregistry.Descriptor, contents []byte) error {
	path, err := s.blobPath(desc.Digest)
	if err != nil {
		return err
	}
	defer s.paths.hold(path)()
	if isFile(path) {
		return nil
	}
	return s.counted(desc.Size, func() error { return writeFile(path, contents) })
}

// counted takes what do is going to need.
func (s *dirStore) counted(cost int64, do func() error) error {
	if err := s.meter.take(cost); err != nil {
		return err
	}
	err := do()
	if err != nil {
		s.meter.give(cost)
	}
	return err
}

// writeEntry writes one of the small files that make up a repository.
func (s *dirStore) writeEntry(path string, text []byte) error {
	if err := s.makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	defer s.paths.hold(path)()
	if isFile(path) {
		return writeFile(path, text)
	}
	return s.counted(entryCost, func() error { return writeFile(path, text) })
}

// makeFolder makes a folder and those above it, and counts them. One that has lost its
// files goes at the next start.
func (s *dirStore) makeFolder(dir string) error {
	s.folders.Lock()
	defer s.folders.Unlock()
	var cost int64
	for above := dir; ; above = filepath.Dir(above) {
		if _, err := os.Stat(above); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		cost += entryCost
	}
	if cost == 0 {
		return nil
	}
	return s.counted(cost, func() error { return os.MkdirAll(dir, 0o700) })
}

// writeFile does not look through its folder, which may have ten thousand entries. What
// killed writers left, the next start removes.
func writeFile(path string, content []byte) error {
	return atomicfile.WriteFrom(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// checkReferences wants everything there that a manifest names, but for its subject,
// which may come later, and for layers that registries may not hand out.
func (s *dirStore) checkReferences(ctx context.Context, repo string, contents []byte) (references, error) {
	refs, err := readReferences(contents)
	if err != nil {
		return refs, err
	}
	for _, d := range refs.blobs() {
		if _, err := s.ResolveBlob(ctx, repo, d.Digest); err != nil && !strings.Contains(d.MediaType, ".nondistributable.") {
			return refs, fmt.Errorf("%w: %s", ociregistry.ErrManifestBlobUnknown, d.Digest)
		}
	}
	for _, d := range refs.Manifests {
		if _, err := s.ResolveManifest(ctx, repo, d.Digest); err != nil {
			return refs, fmt.Errorf("%w: %s", ociregistry.ErrManifestBlobUnknown, d.Digest)
		}
	}
	return refs, nil
}

func (r references) blobs() []ociregistry.Descriptor {
	blobs := r.Layers
	if r.Config != nil {
		blobs = append(blobs[:len(blobs):len(blobs)], *r.Config)
	}
	return blobs
}

// MountBlob makes a blob of one repository one of another, without its bytes.
func (s *dirStore) MountBlob(ctx context.Context, from, to string, digest ociregistry.Digest) (ociregistry.Descriptor, error) {
	desc, err := s.ResolveBlob(ctx, from, digest)
	if err != nil {
		return desc, err
	}
	return desc, s.own(to, digest)
}

// own makes a blob that is there part of a repository.
func (s *dirStore) own(repo string, digest ociregistry.Digest) error {
	path, err := s.ownPath(repo, digest)
	if err != nil || isFile(path) {
		return err
	}
	return s.writeEntry(path, nil)
}

// referencesOf reads what a stored manifest refers to.
func (s *dirStore) referencesOf(ctx context.Context, repo string, digest ociregistry.Digest) (refs references, mediaType string, err error) {
	r, err := s.GetManifest(ctx, repo, digest)
	if err != nil {
		return refs, "", err
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(io.LimitReader(r, MaxManifest))
	if err == nil {
		refs, err = readReferences(text)
	}
	return refs, r.Descriptor().MediaType, err
}

func digestOf(content []byte) ociregistry.Digest { return ociregistry.Digest(canon.Digest(content)) }
