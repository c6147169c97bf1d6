package oci

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Referrer is a document that refers to a bundle. Its bytes are what its digest
// promises; what they mean, and who made them, nobody has looked at.
type Referrer struct {
	Digest       string // of its manifest
	ArtifactType string
	Annotations  map[string]string
	Content      []byte // its one layer
}

// Referrers returns what of one type refers to a bundle in the repository of a
// reference, whose tag or digest does not count. Anyone who may push can attach
// something: what is broken, too large or about something else is left out with a
// warning, and of more than MaxReferrers the first ones are returned. An error means
// that the registry could not be asked.
func (c *Client) Referrers(ctx context.Context, reference, digest, artifactType string) ([]Referrer, error) {
	found, err := c.referrers(ctx, reference, digest, artifactType)
	return found, during("reading what refers to", reference, err)
}

func (c *Client) referrers(ctx context.Context, reference, digest, artifactType string) ([]Referrer, error) {
	ref, err := subjectOf(reference, digest)
	if err != nil {
		return nil, err
	}
	s, err := c.open(ctx, ref, transport.PullScope)
	if err != nil {
		return nil, err
	}
	defer s.close()
	list, err := s.list(ctx, digest, artifactType)
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	if len(list) > MaxReferrers {
		c.warn("more than %d documents of type %.100q refer to %s; the first %[1]d are read", MaxReferrers, artifactType, digest)
		list = list[:MaxReferrers]
	}
	return s.readReferrers(ctx, list, digest, artifactType)
}

// subjectOf is the reference of a bundle in the repository that a reference names.
func subjectOf(reference, digest string) (Reference, error) {
	ref, err := ParseReference(reference)
	if err != nil {
		return ref, err
	}
	if !ValidDigest(digest) {
		return ref, fail(KindInvalid, "", "%.100q is no sha256 digest", digest)
	}
	ref.Tag, ref.Digest = "", digest
	return ref, nil
}

// readReferrers reads the referrers of a list, in its order.
func (s *session) readReferrers(ctx context.Context, list []entry, subject, artifactType string) ([]Referrer, error) {
	all, bad := make([]Referrer, len(list)), make([]error, len(list))
	err := together(ctx, len(list), func(ctx context.Context, i int) error {
		var err error
		if all[i], err = s.referrer(ctx, list[i], subject, artifactType); unusable(err) {
			bad[i], err = err, nil
		}
		return s.explain(ctx, err)
	})
	if err != nil {
		return nil, err
	}
	var good []Referrer
	for i, r := range all {
		if bad[i] == nil {
			good = append(good, r)
			continue
		}
		s.client.warn("%s refers to %s and is left out: %v", list[i].digest, subject, bad[i])
	}
	return good, nil
}

// unusable reports whether an error is about one referrer and not about the registry.
func unusable(err error) bool {
	var e *Error
	return answered(err, http.StatusNotFound) ||
		errors.As(err, &e) && (e.Kind == KindIntegrity || e.Kind == KindInvalid || e.Kind == KindTooLarge)
}

func (s *session) referrer(ctx context.Context, e entry, subject, artifactType string) (Referrer, error) {
	raw, err := s.object(ctx, "manifests", Descriptor{Digest: e.digest}, MaxAttachment)
	if err != nil {
		return Referrer{}, err
	}
	a, err := parseAttached(raw)
	if err != nil {
		return Referrer{}, err
	}
	if err := a.check(subject, artifactType); err != nil {
		return Referrer{}, err
	}
	content, err := s.object(ctx, "blobs", a.layer, a.layer.Size)
	if err != nil {
		return Referrer{}, err
	}
	return Referrer{Digest: e.digest, ArtifactType: a.artifactType, Annotations: a.annotations, Content: content}, nil
}
