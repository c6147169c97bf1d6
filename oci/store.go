package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"cuelabs.dev/go/oci/ociregistry"
)

// dirStore keeps a registry in a folder:
//
//	blobs/sha256/<hex>                        blobs and manifests of all repositories
//	repositories/<name>/_manifests/<hex>      the manifest's media type
//	repositories/<name>/_tags/<tag>           the digest it names
//	uploads/<id>                              uploads under way
//
// Underscores keep these folders apart from repository names, which cannot start with
// one. What is not implemented here (referrers, deleting blobs) is unsupported.
type dirStore struct {
	*ociregistry.Funcs
	dir string

	mu   sync.Mutex
	busy map[string]bool // uploads that a request is writing to
}

var _ ociregistry.Interface = (*dirStore)(nil)

func newDirStore(dir string) (*dirStore, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, localError(err)
	}
	s := &dirStore{dir: dir, busy: map[string]bool{}}
	for _, sub := range []string{"blobs/sha256", "repositories", "uploads"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, localError(err)
		}
	}
	return s, s.dropStaleUploads()
}

func (s *dirStore) blobPath(digest ociregistry.Digest) (string, error) {
	if !ValidDigest(string(digest)) {
		return "", fmt.Errorf("%w: only sha256 is supported", ociregistry.ErrDigestInvalid)
	}
	return filepath.Join(s.dir, "blobs", "sha256", digest.Encoded()), nil
}

func (s *dirStore) repoPath(repo string) (string, error) {
	if len(repo) > 255 || !repositoryGrammar.MatchString(repo) {
		return "", ociregistry.ErrNameInvalid
	}
	return filepath.Join(s.dir, "repositories", filepath.FromSlash(repo)), nil
}

func (s *dirStore) manifestPath(repo string, digest ociregistry.Digest) (string, error) {
	dir, err := s.repoPath(repo)
	if err != nil {
		return "", err
	}
	if _, err := s.blobPath(digest); err != nil {
		return "", err
	}
	return filepath.Join(dir, "_manifests", digest.Encoded()), nil
}

func (s *dirStore) tagPath(repo, tag string) (string, error) {
	dir, err := s.repoPath(repo)
	if err != nil {
		return "", err
	}
	if !tagGrammar.MatchString(tag) {
		return "", fmt.Errorf("%w: invalid tag", ociregistry.ErrManifestInvalid)
	}
	return filepath.Join(dir, "_tags", tag), nil
}

// unknown turns "no such file" into the registry's own error.
func unknown(err error, what ociregistry.Error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return what
	}
	return err
}

// storedBlob is an open file of the store.
type storedBlob struct {
	io.Reader
	io.Closer
	desc ociregistry.Descriptor
}

func (b storedBlob) Descriptor() ociregistry.Descriptor { return b.desc }

func (s *dirStore) ResolveBlob(_ context.Context, _ string, digest ociregistry.Digest) (ociregistry.Descriptor, error) {
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
	return storedBlob{io.NewSectionReader(f, from, to-from), f, desc}, nil
}

func (s *dirStore) ResolveManifest(ctx context.Context, repo string, digest ociregistry.Digest) (ociregistry.Descriptor, error) {
	path, err := s.manifestPath(repo, digest)
	if err != nil {
		return ociregistry.Descriptor{}, err
	}
	mediaType, err := os.ReadFile(path)
	if err != nil {
		return ociregistry.Descriptor{}, unknown(err, ociregistry.ErrManifestUnknown)
	}
	desc, err := s.ResolveBlob(ctx, repo, digest)
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

func (s *dirStore) missing(repo string) ociregistry.Error {
	if dir, err := s.repoPath(repo); err == nil {
		if _, err := os.Stat(filepath.Join(dir, "_manifests")); err == nil {
			return ociregistry.ErrManifestUnknown
		}
	}
	return ociregistry.ErrNameUnknown
}

func (s *dirStore) GetManifest(ctx context.Context, repo string, digest ociregistry.Digest) (ociregistry.BlobReader, error) {
	desc, err := s.ResolveManifest(ctx, repo, digest)
	if err != nil {
		return nil, err
	}
	return s.open(desc, 0, desc.Size)
}

func (s *dirStore) GetTag(ctx context.Context, repo, tag string) (ociregistry.BlobReader, error) {
	desc, err := s.ResolveTag(ctx, repo, tag)
	if err != nil {
		return nil, err
	}
	return s.open(desc, 0, desc.Size)
}
