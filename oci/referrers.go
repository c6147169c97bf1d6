package oci

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"

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
// warning, and of a great many the small ones are returned. An error means that the
// registry could not be asked.
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
	first := readFirst(list)
	if len(list) > len(first) {
		c.warn("more than %d documents of type %.100q refer to %s; the smallest are read", len(first), artifactType, digest)
	}
	return s.readReferrers(ctx, first, digest, artifactType)
}

// readFirst are those of a list that are read: the smallest.
func readFirst(list []entry) []entry {
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.size, b.size) })
	return list[:min(len(list), maxRead)]
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
	var read atomic.Int64 // bytes
	err := together(ctx, len(list), func(ctx context.Context, i int) error {
		if read.Load() > maxReadBytes {
			bad[i] = errors.New("too much refers to it")
			return nil
		}
		var err error
		all[i], err = s.referrer(ctx, list[i], subject, artifactType)
		read.Add(max(list[i].size, 0) + int64(len(all[i].Content)))
		if unusable(err) {
			bad[i], err = s.explain(ctx, err), nil
		}
		return s.explain(ctx, err)
	})
	if err != nil {
		return nil, err
	}
	return s.leaveOut(all, bad, list, subject), nil
}

// leaveOut returns those without an error, and names a few of the others.
func (s *session) leaveOut(all []Referrer, bad []error, list []entry, subject string) (good []Referrer) {
	const named = 8
	out := 0
	for i, r := range all {
		if bad[i] == nil {
			good = append(good, r)
		} else if out++; out <= named {
			s.warn("%s refers to %s and is left out: %v", list[i].digest, subject, bad[i])
		}
	}
	if out > named {
		s.warn("%d more that refer to %s are left out", out-named, subject)
	}
	return good
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
