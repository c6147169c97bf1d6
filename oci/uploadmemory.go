package oci

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"cuelabs.dev/go/oci/ociregistry"

	"github.com/aircoding/air/internal/canon"
)

// memoryBuffer is an upload between requests.
type memoryBuffer struct {
	content []byte
	busy    bool // a request is writing to it
}

func (m *memoryStore) PushBlob(ctx context.Context, repo string, desc ociregistry.Descriptor, r io.Reader) (ociregistry.Descriptor, error) {
	return pushWhole(ctx, m, repo, desc, r)
}

func (m *memoryStore) PushBlobChunked(ctx context.Context, repo string, chunk int) (ociregistry.BlobWriter, error) {
	id, err := newUploadID()
	if err != nil {
		return nil, err
	}
	if err := m.meter.take(entryCost); err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.uploads[id] = &memoryBuffer{}
	m.mu.Unlock()
	w, err := m.PushBlobChunkedResume(ctx, repo, id, 0, chunk)
	if err != nil {
		m.mu.Lock()
		delete(m.uploads, id)
		m.mu.Unlock()
		m.meter.give(entryCost)
	}
	return w, err
}

func (m *memoryStore) PushBlobChunkedResume(_ context.Context, repo, id string, offset int64, chunk int) (ociregistry.BlobWriter, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.uploads[id]
	if b == nil {
		return nil, ociregistry.ErrBlobUploadUnknown
	}
	if b.busy {
		return nil, errUploadBusy
	}
	bounds, err := m.meter.upload(int64(len(b.content)), offset, chunk)
	if err != nil {
		return nil, err
	}
	b.busy = true
	return &memoryUpload{uploadBounds: bounds, store: m, repo: repo, id: id, buffer: b}, nil
}

// memoryUpload is one request's hold on an upload.
type memoryUpload struct {
	uploadBounds
	store  *memoryStore
	repo   string
	id     string
	buffer *memoryBuffer
	done   bool
}

func (u *memoryUpload) ID() string { return u.id }

func (u *memoryUpload) Write(p []byte) (int, error) {
	if err := u.admit(len(p)); err != nil {
		return 0, err
	}
	u.buffer.content = append(u.buffer.content, p...)
	return len(p), nil
}

func (u *memoryUpload) Close() error {
	if u.done {
		return nil
	}
	u.done = true
	u.room.release()
	if u.spoiled {
		u.drop(true)
	}
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	u.buffer.busy = false
	return nil
}

func (u *memoryUpload) Cancel() error {
	err := u.Close()
	u.drop(true)
	return err
}

// drop ends the upload. With free, its bytes are nobody's.
func (u *memoryUpload) drop(free bool) {
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	if u.store.uploads[u.id] != u.buffer {
		return
	}
	delete(u.store.uploads, u.id)
	u.store.meter.give(entryCost)
	if free {
		u.store.meter.give(u.size)
	}
}

func (u *memoryUpload) Commit(digest ociregistry.Digest) (ociregistry.Descriptor, error) {
	desc := ociregistry.Descriptor{MediaType: "application/octet-stream", Digest: digest, Size: u.size}
	if !ValidDigest(string(digest)) {
		return desc, fmt.Errorf("%w: only sha256 is supported", ociregistry.ErrDigestInvalid)
	}
	if digestOf(u.buffer.content) != digest {
		return desc, ociregistry.ErrDigestInvalid
	}
	_, missing := u.store.ResolveBlob(context.Background(), u.repo, digest)
	if missing != nil {
		if _, err := u.store.Registry.PushBlob(context.Background(), u.repo, desc, bytes.NewReader(u.buffer.content)); err != nil {
			return desc, err
		}
	}
	u.drop(missing == nil)
	return desc, nil
}

func digestOf(content []byte) ociregistry.Digest { return ociregistry.Digest(canon.Digest(content)) }
