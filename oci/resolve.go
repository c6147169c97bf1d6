package oci

import (
	"context"
	"net/http"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/aircoding/air/internal/canon"
)

// Resolve returns the digest that a tag names now; a reference by digest names its own,
// and no request is made. What is fetched by that digest later is verified then.
func (c *Client) Resolve(ctx context.Context, reference string) (digest string, err error) {
	digest, err = c.resolve(ctx, reference)
	return digest, during("resolving", reference, err)
}

func (c *Client) resolve(ctx context.Context, reference string) (string, error) {
	ref, err := ParseReference(reference)
	if err != nil || ref.Digest != "" {
		return ref.Digest, err
	}
	s, err := c.open(ctx, ref, transport.PullScope)
	if err != nil {
		return "", err
	}
	defer s.close()
	if digest, err := s.head(ctx, ref.Tag); err != nil || digest != "" {
		return digest, s.explain(ctx, err)
	}
	raw, err := s.manifest(ctx) // this registry does not say it
	if err != nil {
		return "", err
	}
	return canon.Digest(raw), nil
}

// head returns the digest that the registry gives for a tag, "" when it gives none.
func (s *session) head(ctx context.Context, tag string) (digest string, err error) {
	err = s.retry(ctx, func() error {
		resp, err := s.send(ctx, http.MethodHead, "manifests/"+tag, map[string]string{"Accept": acceptManifests}, nil, http.StatusOK)
		if err != nil {
			return err
		}
		digest = resp.Header.Get("Docker-Content-Digest")
		return resp.Body.Close()
	})
	if !ValidDigest(digest) {
		digest = ""
	}
	return digest, err
}
