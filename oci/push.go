package oci

import (
	"bytes"
	"context"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/aircoding/air/internal/canon"
)

// PushOptions change a push.
type PushOptions struct {
	Force    bool   // move a tag that names another bundle
	Compress string // "zstd" compresses the module; empty leaves it as it is
}

// Pushed says where a bundle is now. Existed means that the tag named it already and
// nothing was sent.
type Pushed struct {
	Reference string `json:"reference"` // by digest
	Digest    string `json:"digest"`
	Existed   bool   `json:"existed"`
}

// Push stores a bundle under a tag.
func (c *Client) Push(ctx context.Context, reference string, a Artifact, o PushOptions) (Pushed, error) {
	pushed, err := c.push(ctx, reference, a, o)
	return pushed, during("pushing to", reference, err)
}

func (c *Client) push(ctx context.Context, reference string, a Artifact, o PushOptions) (Pushed, error) {
	ref, err := ParseReference(reference)
	if err != nil {
		return Pushed{}, err
	}
	if ref.Digest != "" {
		return Pushed{}, fail(KindInvalid, "the digest follows from the content; name a tag", "a push needs a tag")
	}
	if a, err = o.apply(a); err != nil {
		return Pushed{}, err
	}
	raw, _, err := a.Manifest()
	if err != nil {
		return Pushed{}, err
	}
	return c.pushTo(ctx, ref, raw, uploads(a), o)
}

// pushTo stores a manifest under a tag, after the blobs that it names.
func (c *Client) pushTo(ctx context.Context, ref Reference, raw []byte, blobs []Layer, o PushOptions) (Pushed, error) {
	s, err := c.open(ctx, ref, transport.PushScope)
	if err != nil {
		return Pushed{}, err
	}
	defer s.close()
	there, err := s.checkTag(ctx, raw, o)
	if err != nil {
		return Pushed{}, err
	}
	digest := canon.Digest(raw)
	if there != "" {
		digest = there
	} else if err := s.upload(ctx, blobs); err != nil {
		return Pushed{}, err
	} else if err := s.putManifest(ctx, ref.Tag, mediaTypeManifest, raw); err != nil {
		return Pushed{}, s.explain(ctx, err)
	}
	by := Reference{Registry: ref.Registry, Repository: ref.Repository, Digest: digest}
	return Pushed{Digest: digest, Reference: by.String(), Existed: there != ""}, nil
}

func (o PushOptions) apply(a Artifact) (Artifact, error) {
	switch o.Compress {
	case "":
		return a, nil
	case "zstd":
		return a.compress()
	}
	return a, fail(KindInvalid, "want zstd", "unknown compression %.100q", o.Compress)
}

// checkTag returns the digest of the bundle when the tag names it already, and refuses to
// move the tag. Registries know no compare-and-swap: of two pushes at the same moment one
// wins.
func (s *session) checkTag(ctx context.Context, manifest []byte, o PushOptions) (there string, err error) {
	raw, err := s.manifest(ctx)
	if isKind(err, KindNotFound) || o.Force && (isKind(err, KindIntegrity) || isKind(err, KindTooLarge)) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	switch got := canon.Digest(raw); {
	case bytes.Equal(raw, manifest) || sameContent(raw, manifest):
		return got, nil
	case o.Force:
		return "", nil
	default:
		return "", fail(KindConflict, "push under another tag, or move this one with --force",
			"tag %s already names another bundle, %s", s.ref.Tag, got)
	}
}

func (s *session) upload(ctx context.Context, blobs []Layer) error {
	pusher, err := remote.NewPusher(
		remote.WithTransport(s.auth),
		remote.WithRetryPredicate(func(error) bool { return false })) // ours retries
	if err != nil {
		return err
	}
	return together(ctx, len(blobs), func(ctx context.Context, i int) error {
		bar := s.client.bar(blobs[i].Size, blobs[i].Title)
		defer bar.Close()
		return s.explain(ctx, s.retry(ctx, func() error {
			return pusher.Upload(ctx, s.repo, upload{blobs[i], bar})
		}))
	})
}

// uploads lists what has to be in the registry before the manifest, each blob once.
func uploads(a Artifact) []Layer {
	blobs := []Layer{configLayer(mediaTypeConfig, a.Config)}
	seen := map[string]bool{blobs[0].Digest: true}
	for _, l := range a.ordered() {
		if !seen[l.Digest] {
			seen[l.Digest] = true
			blobs = append(blobs, l)
		}
	}
	return blobs
}

func configLayer(mediaType string, content []byte) Layer {
	l := memoryLayer(manifestJSON, content)
	l.MediaType = mediaType
	return l
}

// upload is one blob for the library.
type upload struct {
	layer Layer
	bar   Bar
}

var _ v1.Layer = upload{}

func (u upload) Digest() (v1.Hash, error)             { return v1.NewHash(u.layer.Digest) }
func (u upload) DiffID() (v1.Hash, error)             { return v1.NewHash(u.layer.Digest) }
func (u upload) Size() (int64, error)                 { return u.layer.Size, nil }
func (u upload) MediaType() (types.MediaType, error)  { return types.MediaType(u.layer.MediaType), nil }
func (u upload) Uncompressed() (io.ReadCloser, error) { return u.Compressed() }
func (u upload) Compressed() (io.ReadCloser, error) {
	r, err := u.layer.Open()
	if err != nil {
		return nil, localError(err)
	}
	d := Descriptor{Digest: u.layer.Digest, Size: u.layer.Size}
	return &uploadReader{ReadCloser: r, layer: u.layer, verifier: newVerifier(d), bar: u.bar}, nil
}

// uploadReader makes sure that what goes up is what the manifest says, also when the
// file changes meanwhile.
type uploadReader struct {
	io.ReadCloser
	layer    Layer
	verifier *verifier
	bar      Bar
}

func (r *uploadReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		return n, localError(err)
	}
	_, bad := r.verifier.Write(p[:n])
	if bad == nil && (err == io.EOF || r.verifier.n == r.layer.Size) {
		bad = r.verifier.check()
	}
	if bad != nil {
		return 0, fail(KindIntegrity, "build again and push again", "%q changed while it was pushed", r.layer.Title)
	}
	r.bar.Set(r.verifier.n)
	return n, err
}
