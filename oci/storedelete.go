package oci

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cuelabs.dev/go/oci/ociregistry"

	"github.com/aircoding/air/internal/atomicfile"
)

// DeleteBlob takes a blob out of one repository. The bytes go when the registry starts
// the next time and no other repository has them.
func (s *dirStore) DeleteBlob(_ context.Context, repo string, digest ociregistry.Digest) error {
	path, err := s.ownPath(repo, digest)
	if err != nil {
		return err
	}
	return s.removeEntry(path, ociregistry.ErrBlobUnknown)
}

func (s *dirStore) DeleteTag(_ context.Context, repo, tag string) error {
	path, err := s.tagPath(repo, tag)
	if err != nil {
		return err
	}
	return s.removeEntry(path, ociregistry.ErrManifestUnknown)
}

func (s *dirStore) DeleteManifest(ctx context.Context, repo string, digest ociregistry.Digest) error {
	path, err := s.manifestPath(repo, digest)
	if err != nil {
		return err
	}
	refs, mediaType, err := s.referencesOf(ctx, repo, digest)
	if err != nil {
		return err
	}
	if err := s.deleteTagsOf(ctx, repo, digest); err != nil {
		return err
	}
	if err := s.removeEntry(path, ociregistry.ErrManifestUnknown); err != nil {
		return err
	}
	subject := refs.subject(mediaType)
	if subject == "" {
		return nil
	}
	if path, err = s.referrerPath(repo, subject, digest); err != nil {
		return err
	}
	return ignoreMissing(s.remove(path))
}

// deleteTagsOf removes the tags that name a manifest.
func (s *dirStore) deleteTagsOf(ctx context.Context, repo string, digest ociregistry.Digest) error {
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
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeEntry returns what when there is no such file.
func (s *dirStore) removeEntry(path string, what ociregistry.Error) error {
	if err := s.remove(path); err != nil {
		return unknown(err, what)
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

func (s *dirStore) remove(path string) error {
	defer s.paths.hold(path)()
	err := os.Remove(path)
	if err == nil {
		s.meter.give(entryCost)
	}
	return err
}
