package oci

import (
	"context"
	"net/http"
	"slices"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Attach stores a document that refers to a bundle, which is in the repository of the
// reference already, and returns the digest of the document's manifest. Attaching the
// same again changes nothing. The reference's tag or digest does not count.
func (c *Client) Attach(ctx context.Context, reference, digest string, a Attachment) (string, error) {
	own, err := c.attach(ctx, reference, digest, a)
	return own, during("attaching to", reference, err)
}

func (c *Client) attach(ctx context.Context, reference, digest string, a Attachment) (string, error) {
	ref, err := subjectOf(reference, digest)
	if err != nil {
		return "", err
	}
	s, err := c.open(ctx, ref, transport.PushScope)
	if err != nil {
		return "", err
	}
	defer s.close()
	subject, err := s.manifest(ctx)
	if err != nil {
		return "", err
	}
	if _, err := ParseManifest(subject); err != nil {
		return "", err
	}
	raw, own, err := a.manifest(digest, int64(len(subject)))
	if err != nil {
		return "", err
	}
	return own, s.explain(ctx, s.store(ctx, a, raw))
}

// store sends content and manifest of an attachment, and sees to it that others find it.
// What the registry answers to the manifest is no proof that it does: some say so and
// have no referrers API.
func (s *session) store(ctx context.Context, a Attachment, raw []byte) error {
	if err := s.upload(ctx, []Layer{memoryLayer("", emptyJSON), memoryLayer("", a.Content)}); err != nil {
		return err
	}
	own, err := newEntry(a, raw)
	if err != nil {
		return err
	}
	if err := s.putManifest(ctx, own.digest, mediaTypeManifest, raw); err != nil {
		return err
	}
	list, native, err := s.nativeList(ctx, s.ref.Digest, a.ArtifactType)
	if err == nil && !native {
		list, err = s.addToIndex(ctx, indexTag(s.ref.Digest), own)
		list = candidates(list, s.ref.Digest, a.ArtifactType)
	}
	if err == nil && !slices.ContainsFunc(readFirst(list), func(e entry) bool { return e.digest == own.digest }) {
		s.warn("%s is stored, and nobody will find it: too much else of its type refers to %s, or the registry does not list it", own.digest, s.ref.Digest)
	}
	return err
}

// putManifest is not the library's, which would keep the index of referrers itself.
func (s *session) putManifest(ctx context.Context, identifier, mediaType string, raw []byte) error {
	return s.retry(ctx, func() error {
		resp, err := s.send(ctx, http.MethodPut, "manifests/"+identifier, map[string]string{"Content-Type": mediaType}, raw, http.StatusOK, http.StatusCreated, http.StatusAccepted)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}
