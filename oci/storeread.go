package oci

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"cuelabs.dev/go/oci/ociregistry"
)

// storedBlob is a part of an open file of the store.
type storedBlob struct {
	io.Reader
	file *os.File
	desc ociregistry.Descriptor
}

func (b storedBlob) Descriptor() ociregistry.Descriptor { return b.desc }
func (b storedBlob) Close() error                       { return b.file.Close() }

// WriteTo shows net/http that this is a file, which the kernel can send.
func (b storedBlob) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, b.Reader) }

func (s *dirStore) ResolveBlob(_ context.Context, repo string, digest ociregistry.Digest) (ociregistry.Descriptor, error) {
	own, err := s.ownPath(repo, digest)
	if err != nil {
		return ociregistry.Descriptor{}, err
	}
	if !isFile(own) {
		return ociregistry.Descriptor{}, ociregistry.ErrBlobUnknown
	}
	return s.stat(digest)
}

// stat describes bytes that are there, whoever has them.
func (s *dirStore) stat(digest ociregistry.Digest) (ociregistry.Descriptor, error) {
	path, err := s.blobPath(digest)
	if err != nil {
		return ociregistry.Descriptor{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return ociregistry.Descriptor{}, unknown(err, ociregistry.ErrBlobUnknown)
	}
	return ociregistry.Descriptor{MediaType: "application/octet-stream", Digest: digest, Size: info.Size()}, nil
}

func (s *dirStore) GetBlob(ctx context.Context, repo string, digest ociregistry.Digest) (ociregistry.BlobReader, error) {
	return s.GetBlobRange(ctx, repo, digest, 0, -1)
}

func (s *dirStore) GetBlobRange(ctx context.Context, repo string, digest ociregistry.Digest, from, to int64) (ociregistry.BlobReader, error) {
	desc, err := s.ResolveBlob(ctx, repo, digest)
	if err != nil {
		return nil, err
	}
	if to < 0 || to > desc.Size {
		to = desc.Size
	}
	if from < 0 || from > to {
		return nil, ociregistry.ErrRangeInvalid
	}
	return s.open(desc, from, to)
}

func (s *dirStore) open(desc ociregistry.Descriptor, from, to int64) (ociregistry.BlobReader, error) {
	path, err := s.blobPath(desc.Digest)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unknown(err, ociregistry.ErrBlobUnknown)
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return storedBlob{io.LimitReader(f, to-from), f, desc}, nil
}

func (s *dirStore) ResolveManifest(_ context.Context, repo string, digest ociregistry.Digest) (ociregistry.Descriptor, error) {
	path, err := s.manifestPath(repo, digest)
	if err != nil {
		return ociregistry.Descriptor{}, err
	}
	mediaType, err := os.ReadFile(path)
	if err != nil {
		return ociregistry.Descriptor{}, unknown(err, ociregistry.ErrManifestUnknown)
	}
	desc, err := s.stat(digest)
	desc.MediaType = string(mediaType)
	return desc, err
}

func (s *dirStore) ResolveTag(ctx context.Context, repo, tag string) (ociregistry.Descriptor, error) {
	path, err := s.tagPath(repo, tag)
	if err != nil {
		return ociregistry.Descriptor{}, err
	}
	digest, err := os.ReadFile(path)
	if err != nil {
		return ociregistry.Descriptor{}, unknown(err, s.missing(repo))
	}
	return s.ResolveManifest(ctx, repo, ociregistry.Digest(strings.TrimSpace(string(digest))))
}

// missing says what a repository without some tag is.
func (s *dirStore) missing(repo string) ociregistry.Error {
	if dir, err := s.repoPath(repo); err == nil {
		if _, err := os.Stat(filepath.Join(dir, "_manifests")); err == nil {
			return ociregistry.ErrManifestUnknown
		}
	}
	return ociregistry.ErrNameUnknown
}

func (s *dirStore) GetManifest(ctx context.Context, repo string, digest ociregistry.Digest) (ociregistry.BlobReader, error) {
	return s.whole(s.ResolveManifest(ctx, repo, digest))
}

func (s *dirStore) GetTag(ctx context.Context, repo, tag string) (ociregistry.BlobReader, error) {
	return s.whole(s.ResolveTag(ctx, repo, tag))
}

func (s *dirStore) whole(desc ociregistry.Descriptor, err error) (ociregistry.BlobReader, error) {
	if err != nil {
		return nil, err
	}
	return s.open(desc, 0, desc.Size)
}
