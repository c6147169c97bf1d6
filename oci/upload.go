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

	"cuelabs.dev/go/oci/ociregistry"

	"github.com/aircoding/air/internal/atomicfile"
)

func (s *dirStore) PushBlob(ctx context.Context, repo string, desc ociregistry.Descriptor, r io.Reader) (ociregistry.Descriptor, error) {
	w, err := s.PushBlobChunked(ctx, repo, int(max(desc.Size, 0)))
	if err != nil {
		return desc, err
	}
	defer func() { _ = w.Cancel() }()
	if _, err := io.Copy(w, r); err != nil {
		return desc, err
	}
	return w.Commit(desc.Digest)
}

func (s *dirStore) PushBlobChunked(ctx context.Context, repo string, chunk int) (ociregistry.BlobWriter, error) {
	if _, err := s.repoPath(repo); err != nil {
		return nil, err
	}
	s.sweep()
	id, err := s.beginUpload(repo)
	if err != nil {
		return nil, err
	}
	w, err := s.PushBlobChunkedResume(ctx, repo, id, 0, chunk)
	if err != nil {
		return nil, errors.Join(err, s.dropUpload(id, 0))
	}
	return w, nil
}

// PushBlobChunkedResume opens an upload for one request; a second one meanwhile is
// refused, for two writers would make one mess.
func (s *dirStore) PushBlobChunkedResume(_ context.Context, repo, id string, offset int64, chunk int) (ociregistry.BlobWriter, error) {
	if !isUploadOf(repo, id) {
		return nil, ociregistry.ErrBlobUploadUnknown
	}
	if !s.holdUpload(id) {
		return nil, errUploadBusy
	}
	u, err := s.openUpload(repo, id, offset, chunk)
	if err != nil {
		s.letGoUpload(id)
		return nil, err
	}
	return u, nil
}

func (s *dirStore) openUpload(repo, id string, offset int64, chunk int) (*blobUpload, error) {
	f, err := os.OpenFile(s.uploadPath(id), os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, unknown(err, ociregistry.ErrBlobUploadUnknown)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	bounds, err := s.meter.upload(info.Size(), offset, chunk)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
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

func (u *blobUpload) Close() error { return u.close(u.spoiled) }

// Cancel drops the upload. After a Commit there is nothing left to drop.
func (u *blobUpload) Cancel() error { return u.close(true) }

func (u *blobUpload) close(drop bool) error {
	if u.done {
		return nil
	}
	u.done = true
	u.room.release()
	err := u.file.Close()
	if drop {
		err = errors.Join(err, u.store.dropUpload(u.id, u.size))
	}
	u.store.letGoUpload(u.id)
	return err
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
	defer u.store.paths.hold(path)()
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
