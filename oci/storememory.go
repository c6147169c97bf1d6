package oci

import (
	"context"
	"iter"
	"sync"

	"cuelabs.dev/go/oci/ociregistry"
	"cuelabs.dev/go/oci/ociregistry/ocimem"
)

// memoryStore counts what the library's store holds, and makes it answer like the one in
// a folder. Uploads under way are its own: the library would keep them for ever.
type memoryStore struct {
	*ocimem.Registry
	meter *meter

	mu      sync.Mutex
	uploads map[string]*memoryBuffer
}

var _ storage = (*memoryStore)(nil)

// newMemoryStore checks what a manifest names itself: the library's answer to what is
// missing is none of a registry's.
func newMemoryStore(quota int64) *memoryStore {
	return &memoryStore{
		Registry: ocimem.NewWithConfig(&ocimem.Config{LaxChildReferences: true}),
		meter:    &meter{limit: quota},
		uploads:  map[string]*memoryBuffer{},
	}
}

func (m *memoryStore) MountBlob(ctx context.Context, from, to string, digest ociregistry.Digest) (ociregistry.Descriptor, error) {
	desc, err := m.ResolveBlob(ctx, from, digest)
	if err != nil {
		return desc, err
	}
	if _, err := m.ResolveBlob(ctx, to, digest); err == nil {
		return desc, nil
	}
	return counted(m.meter, desc.Size, func() (ociregistry.Descriptor, error) {
		return m.Registry.MountBlob(ctx, from, to, digest)
	})
}

func (m *memoryStore) DeleteBlob(ctx context.Context, repo string, digest ociregistry.Digest) error {
	desc, err := m.ResolveBlob(ctx, repo, digest)
	if err == nil {
		err = m.Registry.DeleteBlob(ctx, repo, digest)
	}
	if err == nil {
		m.meter.give(desc.Size)
	}
	return err
}

func (m *memoryStore) PushManifest(ctx context.Context, repo, tag string, contents []byte, mediaType string) (ociregistry.Descriptor, error) {
	if err := checkMediaType(mediaType); err != nil {
		return ociregistry.Descriptor{}, err
	}
	refs, err := checkReferences(ctx, m, repo, contents)
	if err != nil {
		return ociregistry.Descriptor{}, err
	}
	if refs.Subject != nil && !ValidDigest(string(refs.Subject.Digest)) {
		return ociregistry.Descriptor{}, ociregistry.ErrDigestInvalid
	}
	return counted(m.meter, m.cost(ctx, repo, tag, contents), func() (ociregistry.Descriptor, error) {
		return m.Registry.PushManifest(ctx, repo, tag, contents, mediaType)
	})
}

// cost is what a manifest and its tag add to what is there.
func (m *memoryStore) cost(ctx context.Context, repo, tag string, contents []byte) (cost int64) {
	if _, err := m.ResolveManifest(ctx, repo, digestOf(contents)); err != nil {
		cost += int64(len(contents)) + entryCost
	}
	if tag == "" {
		return cost
	}
	if _, err := m.ResolveTag(ctx, repo, tag); err != nil {
		cost += entryCost
	}
	return cost
}

// counted takes what do is going to need.
func counted(m *meter, cost int64, do func() (ociregistry.Descriptor, error)) (ociregistry.Descriptor, error) {
	if err := m.take(cost); err != nil {
		return ociregistry.Descriptor{}, err
	}
	desc, err := do()
	if err != nil {
		m.give(cost)
	}
	return desc, err
}

func (m *memoryStore) DeleteTag(ctx context.Context, repo, tag string) error {
	err := m.Registry.DeleteTag(ctx, repo, tag)
	if err == nil {
		m.meter.give(entryCost)
	}
	return err
}

// DeleteManifest takes the tags along: the library would list them still.
func (m *memoryStore) DeleteManifest(ctx context.Context, repo string, digest ociregistry.Digest) error {
	desc, err := m.ResolveManifest(ctx, repo, digest)
	if err == nil {
		err = deleteTagsOf(ctx, m, repo, digest)
	}
	if err == nil {
		err = m.Registry.DeleteManifest(ctx, repo, digest)
	}
	if err == nil {
		m.meter.give(desc.Size + entryCost)
	}
	return err
}

func (m *memoryStore) referrersAfter(ctx context.Context, repo string, digest ociregistry.Digest, artifactType, after string) iter.Seq2[ociregistry.Descriptor, error] {
	return func(yield func(ociregistry.Descriptor, error) bool) {
		for desc, err := range m.Referrers(ctx, repo, digest, artifactType) {
			if err == nil && string(desc.Digest) <= after {
				continue
			}
			if !yield(desc, err) {
				return
			}
		}
	}
}
