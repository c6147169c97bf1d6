package oci

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"cuelabs.dev/go/oci/ociregistry"

	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/lazyregexp"
)

const staleUpload = 24 * time.Hour

var uploadGrammar = lazyregexp.New(`^[0-9a-f]{32}$`)

func (s *dirStore) uploadPath(id string) string { return filepath.Join(s.dir, "uploads", id) }

func (s *dirStore) PushBlob(ctx context.Context, repo string, desc ociregistry.Descriptor, r io.Reader) (ociregistry.Descriptor, error) {
	return pushWhole(ctx, s, repo, desc, r)
}

func (s *dirStore) PushBlobChunked(ctx context.Context, repo string, chunk int) (ociregistry.BlobWriter, error) {
	if _, err := s.repoPath(repo); err != nil {
		return nil, err
	}
	id, err := newUploadID()
	if err != nil {
		return nil, err
	}
	if err := s.writeEntry(s.uploadPath(id), nil); err != nil {
		return nil, err
	}
	w, err := s.PushBlobChunkedResume(ctx, repo, id, 0, chunk)
	if err != nil {
		return nil, errors.Join(err, s.removeEntry(s.uploadPath(id), ociregistry.ErrBlobUploadUnknown))
	}
	return w, nil
}

// PushBlobChunkedResume opens an upload for one request; a second one meanwhile is
// refused, for two writers would make one mess.
func (s *dirStore) PushBlobChunkedResume(_ context.Context, repo, id string, offset int64, chunk int) (_ ociregistry.BlobWriter, err error) {
	if !uploadGrammar.MatchString(id) {
		return nil, ociregistry.ErrBlobUploadUnknown
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[id] {
		return nil, errUploadBusy
	}
	f, err := os.OpenFile(s.uploadPath(id), os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, unknown(err, ociregistry.ErrBlobUploadUnknown)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	bounds, err := s.meter.upload(info.Size(), offset, chunk)
	if err != nil {
		return nil, err
	}
	s.busy[id] = true
	u := &blobUpload{uploadBounds: bounds, store: s, repo: repo, id: id, file: f}
	if u.size == 0 {
		u.hash = sha256.New()
	}
	return u, nil
}

// blobUpload is one request's hold on an upload.
type blobUpload struct {
	uploadBounds
	store *dirStore
	repo  string
	id    string
	file  *os.File
	hash  hash.Hash // of all bytes; nil when a request before this one wrote some
	done  bool
}

func (u *blobUpload) ID() string { return u.id }

// Write leaves what counts and what is there different when the disk fails it; the
// upload then goes.
func (u *blobUpload) Write(p []byte) (int, error) {
	if err := u.admit(len(p)); err != nil {
		return 0, err
	}
	if u.hash != nil {
		u.hash.Write(p)
	}
	n, err := u.file.Write(p)
	if err != nil {
		u.spoiled = true
	}
	return n, err
}

func (u *blobUpload) Close() error {
	if u.done {
		return nil
	}
	u.done = true
	u.room.release()
	err := u.file.Close()
	if u.spoiled {
		err = errors.Join(err, u.drop())
	}
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	delete(u.store.busy, u.id)
	return err
}

// Cancel drops the upload. After a Commit there is nothing left to drop.
func (u *blobUpload) Cancel() error { return errors.Join(u.Close(), u.drop()) }

func (u *blobUpload) drop() error {
	if err := os.Remove(u.store.uploadPath(u.id)); err != nil {
		return ignoreMissing(err)
	}
	u.store.meter.give(u.size + entryCost)
	return nil
}

// Commit checks the bytes, gives them their name, and then the repository the blob.
func (u *blobUpload) Commit(digest ociregistry.Digest) (ociregistry.Descriptor, error) {
	desc := ociregistry.Descriptor{MediaType: "application/octet-stream", Digest: digest, Size: u.size}
	path, err := u.store.blobPath(digest)
	if err != nil {
		return desc, err
	}
	sum, err := u.sum()
	if err != nil {
		return desc, err
	}
	if sum != digest.Encoded() {
		return desc, ociregistry.ErrDigestInvalid
	}
	if err := u.file.Sync(); err != nil {
		return desc, err
	}
	if err := u.rename(path); err != nil {
		return desc, err
	}
	if err := atomicfile.SyncDir(filepath.Dir(path)); err != nil {
		return desc, err
	}
	return desc, u.store.own(u.repo, digest)
}

// sum is the digest of all bytes, which are read again when they came in several
// requests.
func (u *blobUpload) sum() (string, error) {
	if u.hash == nil {
		u.hash = sha256.New()
		if _, err := io.Copy(u.hash, io.NewSectionReader(u.file, 0, u.size)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(u.hash.Sum(nil)), nil
}

// rename replaces bytes that are there already by the same ones, which count once.
func (u *blobUpload) rename(path string) error {
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	twice := isFile(path)
	if err := os.Rename(u.file.Name(), path); err != nil {
		return err
	}
	u.store.meter.give(entryCost)
	if twice {
		u.store.meter.give(u.size)
	}
	return nil
}
