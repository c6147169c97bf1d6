package oci

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"cuelabs.dev/go/oci/ociregistry"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/canon"
)

// PushManifest writes the bytes, then the entry, then the tag: after a crash at any
// point what is named is there.
func (s *dirStore) PushManifest(ctx context.Context, repo, tag string, contents []byte, mediaType string) (ociregistry.Descriptor, error) {
	desc := ociregistry.Descriptor{MediaType: mediaType, Digest: ociregistry.Digest(canon.Digest(contents)), Size: int64(len(contents))}
	entry, err := s.manifestPath(repo, desc.Digest)
	if err != nil {
		return desc, err
	}
	if err := s.checkReferences(ctx, repo, contents); err != nil {
		return desc, err
	}
	blob, err := s.blobPath(desc.Digest)
	if err != nil {
		return desc, err
	}
	if err := atomicfile.Write(blob, contents, 0o600); err != nil {
		return desc, err
	}
	if err := atomicfile.Write(entry, []byte(mediaType), 0o600); err != nil || tag == "" {
		return desc, err
	}
	path, err := s.tagPath(repo, tag)
	if err != nil {
		return desc, err
	}
	return desc, atomicfile.Write(path, []byte(desc.Digest+"\n"), 0o600)
}

func (s *dirStore) checkReferences(ctx context.Context, repo string, contents []byte) error {
	var m struct {
		Config    *ociregistry.Descriptor  `json:"config"`
		Layers    []ociregistry.Descriptor `json:"layers"`
		Manifests []ociregistry.Descriptor `json:"manifests"`
	}
	if err := json.Unmarshal(contents, &m); err != nil {
		return fmt.Errorf("%w: %w", ociregistry.ErrManifestInvalid, err)
	}
	if m.Config != nil {
		m.Layers = append(m.Layers, *m.Config)
	}
	for _, d := range m.Layers {
		if _, err := s.ResolveBlob(ctx, repo, d.Digest); err != nil {
			return fmt.Errorf("%w: %s", ociregistry.ErrManifestBlobUnknown, d.Digest)
		}
	}
	for _, d := range m.Manifests {
		if _, err := s.ResolveManifest(ctx, repo, d.Digest); err != nil {
			return fmt.Errorf("%w: %s", ociregistry.ErrManifestBlobUnknown, d.Digest)
		}
	}
	return nil
}

func (s *dirStore) MountBlob(ctx context.Context, _, to string, digest ociregistry.Digest) (ociregistry.Descriptor, error) {
	return s.ResolveBlob(ctx, to, digest)
}

func (s *dirStore) DeleteTag(_ context.Context, repo, tag string) error {
	path, err := s.tagPath(repo, tag)
	if err != nil {
		return err
	}
	return unknown(os.Remove(path), ociregistry.ErrManifestUnknown)
}

func (s *dirStore) DeleteManifest(ctx context.Context, repo string, digest ociregistry.Digest) error {
	path, err := s.manifestPath(repo, digest)
	if err != nil {
		return err
	}
	for tag, err := range s.Tags(ctx, repo, "") {
		if err != nil {
			return err
		}
		if desc, err := s.ResolveTag(ctx, repo, tag); err == nil && desc.Digest == digest {
			if err := s.DeleteTag(ctx, repo, tag); err != nil {
				return err
			}
		}
	}
	return unknown(os.Remove(path), ociregistry.ErrManifestUnknown)
}
