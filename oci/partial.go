package oci

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aircoding/air/internal/home"
)

// partialSuffix ends the name of a blob that is not whole yet.
const partialSuffix = ".partial"

// blobFile is the file a blob is written to. Its errors are this machine's, which
// io.Copy would mix with the network's.
type blobFile struct {
	file      *os.File
	verifier  *verifier
	keep      bool // what is there when it fails is worth continuing
	continued bool // the bytes come from more than one answer
}

func (b *blobFile) Write(p []byte) (int, error) {
	if _, err := b.verifier.Write(p); err != nil {
		return 0, err
	}
	n, err := b.file.Write(p)
	if err != nil {
		return n, localError(err)
	}
	return n, nil
}

// resume takes in what an earlier download left. Its bytes are hashed again: the machine
// may have crashed under them, or somebody changed them.
func (b *blobFile) resume() error {
	b.keep = true
	info, err := b.file.Stat()
	if err != nil {
		return localError(err)
	}
	if !info.Mode().IsRegular() || info.Size() > b.verifier.want.Size {
		return b.restart()
	}
	if _, err := io.CopyBuffer(b.verifier, struct{ io.Reader }{b.file}, make([]byte, copyBuffer)); err != nil {
		return localError(err)
	}
	b.continued = b.verifier.n > 0
	if b.verifier.n == b.verifier.want.Size && !b.whole() {
		return b.restart()
	}
	return nil
}

func (b *blobFile) whole() bool { return b.verifier.check() == nil }

// restart empties the file for another try.
func (b *blobFile) restart() error {
	b.verifier, b.continued = newVerifier(b.verifier.want), false
	if _, err := b.file.Seek(0, io.SeekStart); err != nil {
		return localError(err)
	}
	if err := b.file.Truncate(0); err != nil {
		return localError(err)
	}
	return nil
}

// complete fills the file and gives it its name once its bytes are right and on the disk.
// A name that a crash takes back costs a rename: the bytes are there as a partial.
func (b *blobFile) complete(path string, fill func(*blobFile) error) error {
	if err := fill(b); err != nil {
		return err
	}
	if err := b.verifier.check(); err != nil {
		return err
	}
	if err := b.file.Sync(); err != nil {
		return localError(err)
	}
	if err := b.file.Close(); err != nil {
		return localError(err)
	}
	if err := os.Rename(b.file.Name(), path); err != nil {
		return localError(err)
	}
	return nil
}

// PruneDownloads removes from a Client's CacheDir what no pull used, or continued, for so
// long, and returns how many bytes that frees. A download under way is
// left alone.
func PruneDownloads(ctx context.Context, cacheDir string, unused time.Duration) (freed int64, err error) {
	c := cache{cacheDir}
	entries, err := os.ReadDir(filepath.Join(cacheDir, "sha256"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, localError(err)
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return freed, localError(ctx.Err())
		}
		if !ValidDigest("sha256:" + hexOf(e.Name())) {
			continue
		}
		n, err := c.prune(e.Name(), unused)
		if err != nil {
			return freed, err
		}
		freed += n
	}
	return freed, nil
}

// hexOf is the digest in a name of the cache.
func hexOf(name string) string {
	hex, _, _ := strings.Cut(strings.TrimSuffix(name, partialSuffix), "-")
	return hex
}

func (c cache) prune(name string, unused time.Duration) (freed int64, err error) {
	unlock, free, err := home.TryLock(c.lockPath(hexOf(name)))
	if err != nil {
		return 0, localError(err)
	}
	if !free {
		return 0, nil
	}
	defer unlock()
	path := filepath.Join(c.dir, "sha256", name)
	info, err := os.Lstat(path)
	if err != nil || time.Since(info.ModTime()) < unused {
		return 0, nil // finished meanwhile, or young
	}
	if err := os.Remove(path); err != nil {
		return 0, localError(err)
	}
	return info.Size(), nil
}
