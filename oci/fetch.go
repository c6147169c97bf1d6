package oci

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/aircoding/air/internal/canon"
)

// acceptManifests names indexes too: a registry should show what the reference is,
// and ParseManifest says why it is refused.
const acceptManifests = mediaTypeManifest + ", application/vnd.oci.image.index.v1+json, " +
	"application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json"

// manifest fetches the manifest the session's reference names.
func (s *session) manifest(ctx context.Context) ([]byte, error) {
	raw, header, err := s.read(ctx, "manifests/"+cmp.Or(s.ref.Digest, s.ref.Tag), acceptManifests, MaxManifest)
	if err == nil {
		err = s.checkManifestDigest(raw, header)
	}
	return raw, s.explain(ctx, err)
}

func (s *session) checkManifestDigest(raw []byte, header http.Header) error {
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

// copyBuffer is how much of a download is read, hashed and written at a time.
const copyBuffer = 256 << 10

// fetch downloads what a file lacks of a blob. Bytes from several answers that are wrong
// together are tried once more from zero, in one piece.
func (s *session) fetch(ctx context.Context, d Descriptor, f *blobFile, bar Bar) error {
	err := s.finish(ctx, d, f, bar)
	if !f.continued || !isKind(err, KindIntegrity) {
		return err
	}
	if err := f.restart(); err != nil {
		return err
	}
	return s.finish(ctx, d, f, bar)
}

// finish continues where an answer breaks off, as long as that leads on.
func (s *session) finish(ctx context.Context, d Descriptor, f *blobFile, bar Bar) error {
	tries := s.attempts()
	reached := f.verifier.n
	for {
		err := s.download(ctx, d, f, bar)
		if err == nil {
			return nil
		}
		if f.verifier.n-reached >= worthwhile {
			reached = f.verifier.n
			tries.progressed()
		}
		if !tries.again(ctx, err) {
			return err
		}
	}
}

func (s *session) download(ctx context.Context, d Descriptor, f *blobFile, bar Bar) error {
	resp, err := s.getBlob(ctx, d, f.verifier.n)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusPartialContent {
		f.continued = true
	} else if err := f.restart(); err != nil {
		return err
	}
	if rest := d.Size - f.verifier.n; resp.ContentLength >= 0 && resp.ContentLength != rest {
		return s.blame(d, mismatch("%d bytes announced, %s should have %d", resp.ContentLength, d.Digest, rest))
	}
	from := &counter{r: resp.Body, bar: bar, n: f.verifier.n}
	if _, err := io.CopyBuffer(f, from, make([]byte, copyBuffer)); err != nil {
		return s.blame(d, err)
	}
	return s.blame(d, f.verifier.check())
}

// getBlob asks for a blob from a byte on. An answer that is not exactly the rest counts
// for nothing; 200 is all of it.
func (s *session) getBlob(ctx context.Context, d Descriptor, from int64) (*http.Response, error) {
	ctx = withLimit(ctx, d.Size+1) // one more, to see that there are too many
	if from > 0 {
		header := map[string]string{"Range": fmt.Sprintf("bytes=%d-%d", from, d.Size-1)} // some know only this form
		resp, err := s.send(ctx, http.MethodGet, "blobs/"+d.Digest, header, nil,
			http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable)
		if err != nil || resp.StatusCode == http.StatusOK || isRest(resp, d, from) {
			return resp, err
		}
		_ = resp.Body.Close()
	}
	return s.send(ctx, http.MethodGet, "blobs/"+d.Digest, nil, nil, http.StatusOK)
}

func isRest(resp *http.Response, d Descriptor, from int64) bool {
	if resp.StatusCode != http.StatusPartialContent {
		return false
	}
	got := resp.Header.Get("Content-Range")
	rest := fmt.Sprintf("bytes %d-%d/", from, d.Size-1)
	return got == rest+strconv.FormatInt(d.Size, 10) || got == rest+"*"
}

// blame names the server and the file on an integrity error.
func (s *session) blame(d Descriptor, err error) error {
	if isKind(err, KindIntegrity) {
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
