package oci

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
)

// dirStore keeps a registry in a folder:
//
//	blobs/sha256/<hex>                               blobs and manifests of all repositories
//	repositories/<name>/_blobs/<hex>                 empty: the repository has that blob
//	repositories/<name>/_manifests/<hex>             the manifest's media type
//	repositories/<name>/_tags/<tag>                  the digest it names
//	repositories/<name>/_referrers/<subject>/<hex>   the descriptor of a manifest with that subject
//	uploads/<id>                                     uploads under way
//
// Underscores keep these folders apart from repository names, which cannot start with
// one. A blob is read from the repositories only that it was pushed to or mounted into.
type dirStore struct {
	*ociregistry.Funcs
	dir   string
	meter *meter
	paths stripes

	folders sync.Mutex // whoever makes one holds it

	mu    sync.Mutex
	busy  map[string]bool // uploads that a request is writing to
	swept time.Time       // when uploads that nobody writes to were last looked for
}

var _ ociregistry.Interface = (*dirStore)(nil)

// newDirStore opens a folder that no other registry serves, and tidies it.
func newDirStore(ctx context.Context, dir string, quota int64) (*dirStore, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, localError(err)
	}
	s := &dirStore{dir: dir, meter: &meter{limit: quota}, busy: map[string]bool{}}
	s.meter.reclaim = func() { s.dropIdle(idleUpload) }
	for _, sub := range []string{"blobs/sha256", "repositories", "uploads"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, localError(err)
		}
	}
	if s.meter.used, err = s.tidy(ctx, time.Now()); err != nil {
		return nil, localError(err)
	}
	return s, nil
}

// stripes make looking at a path, counting and writing one step for all who mean the
// same path.
type stripes [64]sync.Mutex

// hold returns what lets go of the path.
func (s *stripes) hold(path string) func() {
	m := &s[crc32.ChecksumIEEE([]byte(path))%uint32(len(s))]
	m.Lock()
	return m.Unlock
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

// digestPath is the file of a digest in one of a repository's folders.
func (s *dirStore) digestPath(repo, folder string, digest ociregistry.Digest) (string, error) {
	dir, err := s.repoPath(repo)
	if err != nil {
		return "", err
	}
	if _, err := s.blobPath(digest); err != nil {
		return "", err
	}
	return filepath.Join(dir, folder, digest.Encoded()), nil
}

func (s *dirStore) manifestPath(repo string, digest ociregistry.Digest) (string, error) {
	return s.digestPath(repo, "_manifests", digest)
}

// ownPath is the file that says that a repository has a blob.
func (s *dirStore) ownPath(repo string, digest ociregistry.Digest) (string, error) {
	return s.digestPath(repo, "_blobs", digest)
}

// referrerPath is the file of one referrer's descriptor.
func (s *dirStore) referrerPath(repo string, subject, referrer ociregistry.Digest) (string, error) {
	if _, err := s.blobPath(subject); err != nil {
		return "", err
	}
	return s.digestPath(repo, filepath.Join("_referrers", subject.Encoded()), referrer)
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
