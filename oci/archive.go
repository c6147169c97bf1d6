package oci

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/aircoding/air/internal/stoppable"
)

// Limits of an archive. Whoever made it may have meant to fill a disk.
const (
	maxArchive        = 1 << 30 // bytes, decompressed
	maxArchiveEntries = 4096
	maxArchiveMemory  = 64 << 20 // bytes of manifests, configs and signatures together
	archiveWindow     = 8 << 20  // what RFC 8878 asks every decoder to support
	tarBlock          = 512      // bytes, of which every tar file has some
)

const hintNotArchive = "air save writes archives; what others write has to be an OCI image layout as tar, plain or compressed with zstd"

// archive is an archive whose entries were read: blobs that are what their digests say,
// in one file without a name, so that a crash leaves nothing of it.
type archive struct {
	file  *os.File
	size  int64
	blobs map[string]section // by digest
	small map[string][]byte  // oci-layout and index.json
	names map[string]bool    // all that were there
	read  int64              // bytes that blob has returned
	limit int64              // bytes that are decompressed
}

type section struct{ offset, size int64 }

// openArchive reads all of an archive into a file in dir.
func openArchive(ctx context.Context, r io.Reader, dir string) (*archive, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, localError(err)
	}
	f, err := os.CreateTemp(dir, ".archive-*")
	if err != nil {
		return nil, localError(err)
	}
	a := &archive{file: f, limit: maxArchive, blobs: map[string]section{}, small: map[string][]byte{}, names: map[string]bool{}}
	if err := os.Remove(f.Name()); err != nil {
		a.close()
		return nil, localError(err)
	}
	if err := a.readAll(stoppable.Reader(ctx, r)); err != nil {
		a.close()
		if ctx.Err() != nil {
			return nil, localError(ctx.Err())
		}
		return nil, archiveError(err)
	}
	return a, nil
}

func (a *archive) close() { _ = a.file.Close() }

// archiveError gives an error of a decoder its kind.
func archiveError(err error) error {
	var ours *Error
	if errors.As(err, &ours) {
		return err
	}
	if errors.Is(err, tar.ErrHeader) {
		return fail(KindInvalid, hintNotArchive, "this is no archive, or a damaged one")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fail(KindIntegrity, "fetch the archive again", "the archive is cut off")
	}
	return fail(KindInvalid, hintNotArchive, "the archive cannot be read: %w", err)
}

func (a *archive) readAll(r io.Reader) error {
	in := bufio.NewReader(r)
	magic, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(magic) != "\x28\xb5\x2f\xfd" {
		return a.readTar(in)
	}
	decoder, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(archiveWindow))
	if err != nil {
		return err
	}
	defer decoder.Close()
	return a.readTar(decoder)
}

func (a *archive) readTar(r io.Reader) error {
	in := bufio.NewReader(&boundedReader{r, a.limit})
	if _, err := in.Peek(tarBlock); errors.Is(err, io.EOF) {
		return fail(KindInvalid, hintNotArchive, "this is no archive")
	}
	t := tar.NewReader(in)
	for range maxArchiveEntries {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := a.take(h, t); err != nil {
			return err
		}
	}
	return fail(KindTooLarge, "", "the archive has more than %d entries", maxArchiveEntries)
}

// take reads one entry, if it is a file of a layout. Nothing is ever written under a
// name that an archive gives.
func (a *archive) take(h *tar.Header, r io.Reader) error {
	name := strings.TrimPrefix(h.Name, "./")
	digest := "sha256:" + strings.TrimPrefix(name, layoutBlobs)
	switch {
	case h.Typeflag == tar.TypeDir && (name == "" || filepath.IsLocal(name)):
		return nil // no folder is made, whatever its name; oras leaves an empty one
	case h.Typeflag != tar.TypeReg || isSparse(h):
		return badEntry(h, "is no regular file")
	case a.names[name]:
		return badEntry(h, "is there twice")
	}
	a.names[name] = true
	switch {
	case name == layoutFile || name == layoutIndex:
		return a.takeSmall(h, name, r)
	case !strings.HasPrefix(name, layoutBlobs) || !ValidDigest(digest):
		return badEntry(h, "is no part of an OCI image layout")
	case h.Size > MaxLayer:
		return fail(KindTooLarge, "", "entry %.100q has %d bytes, the limit is %d", h.Name, h.Size, MaxLayer)
	}
	return a.takeBlob(digest, h.Size, r)
}

// isSparse reports whether an entry has holes: bytes that it does not bring along.
func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

func badEntry(h *tar.Header, why string) error {
	return fail(KindInvalid, "do not use this archive; "+hintNotArchive, "entry %.100q %s", h.Name, why)
}

func (a *archive) takeSmall(h *tar.Header, name string, r io.Reader) error {
	if h.Size > MaxManifest {
		return fail(KindTooLarge, "", "entry %.100q has %d bytes, the limit is %d", h.Name, h.Size, MaxManifest)
	}
	content, err := io.ReadAll(r)
	a.small[name] = content
	return err
}

func (a *archive) takeBlob(digest string, size int64, r io.Reader) error {
	f := &blobFile{file: a.file, verifier: newVerifier(Descriptor{Digest: digest, Size: size})}
	if _, err := io.Copy(f, r); err != nil {
		return err
	}
	if err := f.verifier.check(); err != nil {
		return fail(KindIntegrity, "do not use this archive; fetch it again, or ask who made it", "the archive holds something else than it says: %w", err)
	}
	a.blobs[digest] = section{a.size, size}
	a.size += size
	return nil
}

// open returns a blob that is there.
func (a *archive) open(s section) io.Reader { return io.NewSectionReader(a.file, s.offset, s.size) }

// blob returns the bytes of a small blob, as long as there are not too many of them.
func (a *archive) blob(digest string, limit int64) ([]byte, error) {
	s, ok := a.blobs[digest]
	switch {
	case !ok:
		return nil, fail(KindInvalid, "fetch the archive again, or ask who made it", "the archive lacks %.100s", digest)
	case s.size > limit:
		return nil, fail(KindTooLarge, "", "%s has %d bytes, the limit is %d", digest, s.size, limit)
	}
	if a.read += s.size; a.read > maxArchiveMemory {
		return nil, fail(KindTooLarge, "", "the manifests and signatures of the archive have more than %d bytes", maxArchiveMemory)
	}
	content, err := io.ReadAll(a.open(s))
	if err != nil {
		return nil, localError(err)
	}
	return content, nil
}

// boundedReader ends with an error where more than so many bytes come.
type boundedReader struct {
	r    io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fail(KindTooLarge, "", "the archive decompresses to more than %d bytes", maxArchive)
	}
	return n, err
}
