package oci

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/aircoding/air/internal/home"
)

// maxBlob is the most that any blob of a bundle has, in bytes.
const maxBlob = MaxLayer

const hintWrongSize = "do not use this bundle; ask its publisher"

// cache keeps verified blobs as <dir>/sha256/<hex>. Whatever has that name was whole when
// it got it.
type cache struct{ dir string }

func (c cache) path(digest string) string {
	return filepath.Join(c.dir, "sha256", digest[len("sha256:"):])
}

// ensure returns the file of a blob; when it is not there yet, fill writes it into an
// empty file. Of several processes that want one digest, one fills and the others wait.
func (c cache) ensure(ctx context.Context, d Descriptor, fill func(*blobFile) error) (string, error) {
	return c.obtain(ctx, d, func(f *blobFile) error {
		if err := f.restart(); err != nil {
			return err
		}
		return fill(f)
	})
}

// obtain is ensure whose fill finds what an earlier try left: it begins with resume or
// restart.
func (c cache) obtain(ctx context.Context, d Descriptor, fill func(*blobFile) error) (string, error) {
	if c.dir == "" {
		return "", fail(KindInvalid, "", "no folder is configured for downloads")
	}
	if ok, err := c.has(d); ok || err != nil {
		return c.path(d.Digest), err
	}
	unlock, err := home.Lock(ctx, c.lockPath(filepath.Base(c.path(d.Digest))))
	if err != nil {
		return "", localError(err)
	}
	defer unlock()
	if ok, err := c.has(d); ok || err != nil {
		return c.path(d.Digest), err
	}
	return c.path(d.Digest), c.write(d, fill)
}

// lockPath is shared by some digests, so that there are never more than 4096 such files.
func (c cache) lockPath(hex string) string { return filepath.Join(c.dir, "locks", hex[:3]) }

// partial is where a download lies while it is under way. Who gives another size downloads
// something else.
func (c cache) partial(d Descriptor) string {
	return c.path(d.Digest) + "-" + strconv.FormatInt(d.Size, 10) + partialSuffix
}

// has reports whether a blob is in the cache, whole; the bytes decide, not the name.
func (c cache) has(d Descriptor) (bool, error) {
	f, err := os.OpenFile(c.path(d.Digest), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe has no bytes, and is no wait
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, localError(err)
	}
	defer func() { _ = f.Close() }()
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(f, maxBlob+1))
	if err != nil || digestString(hash) != d.Digest {
		return false, nil // changed on disk: worth a new download, which replaces it
	}
	if n != d.Size {
		return false, fail(KindIntegrity, hintWrongSize, "%s has %d bytes, and is said to have %d", d.Digest, n, d.Size)
	}
	now := time.Now()
	_ = os.Chtimes(f.Name(), now, now) // used: what PruneDownloads goes by
	return true, nil
}

// write fills a partial file, verifies, and renames it. What a download has when it fails
// stays for the next one, unless the bytes are wrong.
func (c cache) write(d Descriptor, fill func(*blobFile) error) error {
	path := c.path(d.Digest)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return localError(err)
	}
	f, err := os.OpenFile(c.partial(d), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return localError(err)
	}
	blob := &blobFile{file: f, verifier: newVerifier(d)}
	if err := blob.complete(path, fill); err != nil {
		_ = f.Close()
		if !blob.keep || isKind(err, KindIntegrity) {
			_ = os.Remove(f.Name())
		}
		return err
	}
	return nil
}

// verifier hashes what is written to it and never takes more than was promised.
type verifier struct {
	want Descriptor
	hash hash.Hash
	n    int64
}

func newVerifier(d Descriptor) *verifier { return &verifier{want: d, hash: sha256.New()} }

func (v *verifier) Write(p []byte) (int, error) {
	if v.n += int64(len(p)); v.n > v.want.Size {
		return 0, mismatch("more than the %d bytes that %s should have", v.want.Size, v.want.Digest)
	}
	return v.hash.Write(p)
}

func (v *verifier) check() error {
	if v.n != v.want.Size {
		return mismatch("%d bytes, %s should have %d", v.n, v.want.Digest, v.want.Size)
	}
	if got := digestString(v.hash); got != v.want.Digest {
		return mismatch("digest mismatch: got %s, want %s", got, v.want.Digest)
	}
	return nil
}

func digestString(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

func mismatch(format string, args ...any) error {
	return fail(KindIntegrity, "do not use what this server sends; pull from another one, or ask the publisher", "%w", fmt.Errorf(format, args...))
}
