package oci

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/klauspost/compress/zstd"
)

// decodeContent reads what a compressed layer says that it holds. On any other layer such
// annotations are refused: two readers could take it for two things.
func (d *Descriptor) decodeContent(what string, annotations map[string]string) error {
	digest, named := annotations[annotationContent]
	size, sized := annotations[annotationContentSize]
	if d.MediaType != MediaTypeModuleZstd {
		if named || sized {
			return fail(KindInvalid, hintNotBundle, "%s is not compressed, and has annotations of a compressed layer", what)
		}
		return nil
	}
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != size {
		return fail(KindInvalid, hintNotBundle, "%s: %s is %.100q, want a number of bytes", what, annotationContentSize, size)
	}
	if !ValidDigest(digest) {
		return fail(KindInvalid, hintNotBundle, "%s: %s is %.100q, want a sha256 digest", what, annotationContent, digest)
	}
	d.Content = Content{digest, n}
	return nil
}

// compressed reports whether the content has to be decompressed from the blob.
func (d Descriptor) compressed() bool { return d.MediaType == MediaTypeModuleZstd }

// content describes the decompressed layer.
func (d Descriptor) content() Descriptor {
	return Descriptor{Digest: d.Content.Digest, Size: d.Content.Size, Title: d.Title, Content: d.Content}
}

// compress returns the bundle with its module compressed, which has another digest.
// Different versions of the library compress to different bytes.
func (a Artifact) compress() (Artifact, error) {
	if len(a.Layers) == 0 {
		return a, nil // refused when its manifest is made
	}
	raw, err := readWhole(a.Layers[0])
	if err != nil {
		return a, err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return a, err
	}
	packed := encoder.EncodeAll(raw, nil)
	module := memoryLayer(a.Layers[0].Title, packed)
	module.MediaType, module.Content = MediaTypeModuleZstd, Content{a.Layers[0].Digest, a.Layers[0].Size}
	a.Layers = append([]Layer{module}, a.Layers[1:]...)
	return a, nil
}

// readWhole reads a layer that is held in memory as a whole.
func readWhole(l Layer) ([]byte, error) {
	if l.Size > MaxModule {
		return nil, fail(KindTooLarge, "", "module has %d bytes, the limit is %d", l.Size, MaxModule)
	}
	from, err := upload{l, noBar{}}.Compressed()
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	return io.ReadAll(from)
}

// decompress returns the file of a layer's content, which it makes from the blob at path.
func (c cache) decompress(ctx context.Context, d Descriptor, path string) (string, error) {
	return c.ensure(ctx, d.content(), func(f *blobFile) error {
		packed, err := os.Open(path)
		if err != nil {
			return localError(err)
		}
		defer func() { _ = packed.Close() }()
		return unpack(f, packed, d)
	})
}

// unpack never writes more than the content's size, however much the bytes would become,
// and never takes more memory than a module may have.
func unpack(to *blobFile, packed io.Reader, d Descriptor) error {
	decoder, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(MaxModule))
	if err != nil {
		return badLayer(d, err)
	}
	defer decoder.Close()
	_, err = io.CopyBuffer(to, struct{ io.Reader }{decoder}, make([]byte, copyBuffer))
	if err == nil {
		err = to.verifier.check()
	}
	var ours *Error
	if err == nil || errors.As(err, &ours) && ours.Kind != KindIntegrity {
		return err
	}
	return badLayer(d, err)
}

// badLayer blames the publisher: the blob was what its digest says.
func badLayer(d Descriptor, err error) error {
	return fail(KindIntegrity, "do not use this bundle; ask its publisher", "layer %.100q does not decompress to what it promises: %w", d.Title, err)
}

// sameContent reports whether two manifests are of one bundle that was compressed twice,
// perhaps by different versions of the library.
func sameContent(a, b []byte) bool {
	x, errX := ParseManifest(a)
	y, errY := ParseManifest(b)
	if errX != nil || errY != nil || x.Config.Digest != y.Config.Digest || !x.Layers[0].compressed() {
		return false
	}
	return slices.EqualFunc(x.Layers, y.Layers, func(l, m Descriptor) bool {
		return l.Title == m.Title && l.MediaType == m.MediaType && l.Content == m.Content
	})
}
