package oci

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/stoppable"
)

// Save writes bundles and their signatures as one archive: an OCI image layout in a tar
// file, compressed with zstd. The same input gives the same bytes with the same version
// of AIR. What a registry has compressed is taken from the cache in cacheDir; when it is
// no longer there, or any file is not what it was, Save fails, and what was written is
// no archive.
func Save(ctx context.Context, w io.Writer, cacheDir string, bundles ...Kept) error {
	return during("saving an archive", "", save(ctx, w, cacheDir, bundles))
}

func save(ctx context.Context, w io.Writer, cacheDir string, bundles []Kept) error {
	if len(bundles) == 0 {
		return fail(KindInvalid, "", "nothing to save")
	}
	l := layout{cache: cache{cacheDir}, blobs: map[string]Layer{}}
	for _, k := range bundles {
		if err := l.add(k); err != nil {
			return err
		}
	}
	packed, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(archiveWindow))
	if err != nil {
		return err
	}
	if err := l.write(ctx, packed); err != nil {
		packed.Reset(nil) // writes nothing more
		_ = packed.Close()
		return err
	}
	return packed.Close()
}

// write puts the small files that say what there is before the blobs, which follow in
// the order of their digests.
func (l *layout) write(ctx context.Context, w io.Writer) error {
	index, err := json.Marshal(struct {
		SchemaVersion int         `json:"schemaVersion"`
		MediaType     string      `json:"mediaType"`
		Manifests     []wireEntry `json:"manifests"`
	}{2, mediaTypeIndex, l.entries})
	if err != nil {
		return err
	}
	files := []Layer{
		memoryLayer(layoutFile, []byte(`{"imageLayoutVersion":"`+layoutVersion+`"}`)),
		memoryLayer(layoutIndex, index),
	}
	blobs := slices.SortedFunc(maps.Values(l.blobs), func(a, b Layer) int { return cmp.Compare(a.Digest, b.Digest) })
	for _, b := range blobs {
		b.Title = layoutBlobs + b.Digest[len("sha256:"):]
		files = append(files, b)
	}
	t := tar.NewWriter(w)
	for _, f := range files {
		if err := writeEntry(ctx, t, f); err != nil {
			return err
		}
	}
	return t.Close()
}

func writeEntry(ctx context.Context, t *tar.Writer, f Layer) error {
	// No time and no owner: they would be this machine's.
	err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.Title, Mode: 0o644, Size: f.Size, Format: tar.FormatUSTAR})
	if err != nil {
		return err
	}
	from, err := f.Open()
	if err != nil {
		return localError(err)
	}
	defer func() { _ = from.Close() }()
	v := newVerifier(Descriptor{Digest: f.Digest, Size: f.Size})
	_, err = io.Copy(io.MultiWriter(v, t), stoppable.Reader(ctx, from))
	if err == nil {
		err = v.check()
	}
	if isKind(err, KindIntegrity) {
		return fail(KindIntegrity, "air pull REF brings it again", "%s changed on this machine: %w", f.Digest, err)
	}
	return err
}

func memoryLayer(title string, content []byte) Layer {
	return Layer{
		Title: title, Digest: canon.Digest(content), Size: int64(len(content)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
	}
}

func fileLayer(d Descriptor, path string) Layer {
	return Layer{
		Title: d.Title, MediaType: d.MediaType, Digest: d.Digest, Size: d.Size,
		Open: func() (io.ReadCloser, error) { return os.Open(path) },
	}
}
