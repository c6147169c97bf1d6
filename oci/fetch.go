package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aircoding/air/internal/canon"
)

// acceptManifests names indexes too: a registry should show what the reference is,
// and ParseManifest says why it is refused.
const acceptManifests = mediaTypeManifest + ", application/vnd.oci.image.index.v1+json, " +
	"application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json"

// manifest fetches the manifest the session's reference names.
func (s *session) manifest(ctx context.Context) ([]byte, error) {
	var raw []byte
	err := s.client.retry(ctx, func() (err error) {
		raw, err = s.getManifest(ctx)
		return err
	})
	return raw, s.explain(ctx, err)
}

func (s *session) getManifest(ctx context.Context) ([]byte, error) {
	identifier := s.ref.Tag
	if s.ref.Digest != "" {
		identifier = s.ref.Digest
	}
	resp, err := s.get(ctx, "manifests", identifier, acceptManifests)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, MaxManifest+1))
	if err != nil {
		return nil, err
	}
	if strings.Contains(resp.Header.Get("Content-Type"), "html") {
		return nil, fail(KindNotRegistry, s.hintHost(), "%s is no OCI registry: it answered with a web page", s.ref.Registry)
	}
	return raw, s.checkManifestDigest(raw, resp.Header)
}

func (s *session) checkManifestDigest(raw []byte, header http.Header) error {
	if len(raw) > MaxManifest {
		return fail(KindTooLarge, "", "the manifest has more than %d bytes", MaxManifest)
	}
	want := s.ref.Digest
	if claimed := header.Get("Docker-Content-Digest"); want == "" && ValidDigest(claimed) {
		want = claimed
	}
	if got := canon.Digest(raw); want != "" && got != want {
		return fail(KindIntegrity, "do not use what this server sends; pull from another one, or ask the publisher",
			"%s sent a manifest with digest %s, want %s", s.ref.Registry, got, want)
	}
	return nil
}

func (s *session) download(ctx context.Context, d Descriptor, f *blobFile, bar Bar) error {
	if err := f.restart(); err != nil {
		return err
	}
	resp, err := s.get(ctx, "blobs", d.Digest, "")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.ContentLength >= 0 && resp.ContentLength != d.Size {
		return s.blame(d, mismatch("%d bytes announced, %s should have %d", resp.ContentLength, d.Digest, d.Size))
	}
	if _, err := io.Copy(f, &counter{r: resp.Body, bar: bar}); err != nil {
		return s.blame(d, err)
	}
	return s.blame(d, f.verifier.check())
}

// blame names the server and the file on an integrity error.
func (s *session) blame(d Descriptor, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == KindIntegrity {
		return fmt.Errorf("%s sent something else for %.100q: %w", s.ref.Registry, d.Title, err)
	}
	return err
}

// counter tells a bar how far a reader has come.
type counter struct {
	r   io.Reader
	bar Bar
	n   int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.bar.Set(c.n)
	return n, err
}
