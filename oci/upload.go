package oci

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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

// dropStaleUploads removes what clients began and never finished.
func (s *dirStore) dropStaleUploads() error {
	entries, err := os.ReadDir(filepath.Join(s.dir, "uploads"))
	if err != nil {
		return localError(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < staleUpload {
			continue
		}
		if err := os.Remove(s.uploadPath(e.Name())); err != nil {
			return localError(err)
		}
	}
	return nil
}

func (s *dirStore) PushBlob(ctx context.Context, repo string, desc ociregistry.Descriptor, r io.Reader) (ociregistry.Descriptor, error) {
	w, err := s.PushBlobChunked(ctx, repo, 0)
	if err != nil {
		return desc, err
	}
	defer func() { _ = w.Cancel() }()
	if _, err := io.Copy(w, r); err != nil {
		return desc, err
	}
	return w.Commit(desc.Digest)
}

func (s *dirStore) PushBlobChunked(ctx context.Context, repo string, chunkSize int) (ociregistry.BlobWriter, error) {
	if _, err := s.repoPath(repo); err != nil {
		return nil, err
	}
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(s.uploadPath(hex.EncodeToString(id)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return s.PushBlobChunkedResume(ctx, repo, hex.EncodeToString(id), 0, chunkSize)
}

// PushBlobChunkedResume opens an upload for one request; a second one meanwhile is
// refused, for two writers would make one mess.
func (s *dirStore) PushBlobChunkedResume(_ context.Context, _, id string, offset int64, _ int) (ociregistry.BlobWriter, error) {
	if !uploadGrammar.MatchString(id) {
		return nil, ociregistry.ErrBlobUploadUnknown
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[id] {
		return nil, fmt.Errorf("%w: another request is writing to it", ociregistry.ErrBlobUploadInvalid)
	}
	f, err := os.OpenFile(s.uploadPath(id), os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, unknown(err, ociregistry.ErrBlobUploadUnknown)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s.busy[id] = true
	return &blobUpload{store: s, id: id, file: f, size: info.Size(), start: offset}, nil
}

// blobUpload is one request's hold on an upload.
type blobUpload struct {
	store *dirStore
	id    string
	file  *os.File
	size  int64
	start int64 // where the client thinks the upload stands; -1 when it does not say
	done  bool
}

func (u *blobUpload) Size() int64    { return u.size }
func (u *blobUpload) ChunkSize() int { return 8 << 10 }
func (u *blobUpload) ID() string     { return u.id }

func (u *blobUpload) Write(p []byte) (int, error) {
	if u.start != -1 && u.start != u.size {
		return 0, fmt.Errorf("%w: the upload stands at %d", ociregistry.ErrRangeInvalid, u.size)
	}
	u.start = -1 // counts for the first write only
	if u.size+int64(len(p)) > maxBlobBody {
		return 0, fmt.Errorf("%w: a blob may have %d bytes", ociregistry.ErrSizeInvalid, maxBlobBody)
	}
	n, err := u.file.Write(p)
	u.size += int64(n)
	return n, err
}

func (u *blobUpload) Close() error {
	if u.done {
		return nil
	}
	u.done = true
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	delete(u.store.busy, u.id)
	return u.file.Close()
}

// Cancel drops the upload. After a Commit there is nothing left to drop.
func (u *blobUpload) Cancel() error {
	err := u.Close()
	if rm := os.Remove(u.store.uploadPath(u.id)); !errors.Is(rm, os.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	return err
}

// Commit checks the bytes and gives them their name.
func (u *blobUpload) Commit(digest ociregistry.Digest) (ociregistry.Descriptor, error) {
	desc := ociregistry.Descriptor{MediaType: "application/octet-stream", Digest: digest, Size: u.size}
	path, err := u.store.blobPath(digest)
	if err != nil {
		return desc, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(u.file, 0, u.size)); err != nil {
		return desc, err
	}
	if hex.EncodeToString(h.Sum(nil)) != digest.Encoded() {
		return desc, ociregistry.ErrDigestInvalid
	}
	if err := u.file.Sync(); err != nil {
		return desc, err
	}
	if err := os.Rename(u.file.Name(), path); err != nil {
		return desc, err
	}
	return desc, atomicfile.SyncDir(filepath.Dir(path))
}
