package oci

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/aircoding/air/internal/canon"
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
	if err := s.uploadBytes(ctx, emptyJSON, a.Content); err != nil {
		return err
	}
	own := entry{digest: canon.Digest(raw), artifactType: a.ArtifactType}
	if err := s.putManifest(ctx, own.digest, mediaTypeManifest, raw); err != nil {
		return err
	}
	_, native, err := s.nativeList(ctx, s.ref.Digest, a.ArtifactType)
	if native || err != nil {
		return err
	}
	if own, err = newEntry(a, raw); err != nil {
		return err
	}
	return s.addToIndex(ctx, indexTag(s.ref.Digest), own)
}

func (s *session) uploadBytes(ctx context.Context, blobs ...[]byte) error {
	pusher, err := remote.NewPusher(
		remote.WithTransport(s.auth),
		remote.WithRetryPredicate(func(error) bool { return false })) // ours retries
	if err != nil {
		return err
	}
	for _, b := range blobs {
		l := Layer{
			Title: "attachment", MediaType: "application/octet-stream", Digest: canon.Digest(b), Size: int64(len(b)),
			Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil },
		}
		err := s.client.retry(ctx, func() error { return pusher.Upload(ctx, s.repo, upload{l, noBar{}}) })
		if err != nil {
			return err
		}
	}
	return nil
}

// putManifest is not the library's, which would keep the index of referrers itself.
func (s *session) putManifest(ctx context.Context, identifier, mediaType string, raw []byte) error {
	return s.client.retry(ctx, func() error {
		resp, err := s.send(ctx, http.MethodPut, "manifests/"+identifier, map[string]string{"Content-Type": mediaType}, raw)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
}
