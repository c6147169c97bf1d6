package engine

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/aircoding/air/runtime/engine/wazero"
)

// cacheFolder is where a worker finds or leaves a module's machine code. A module is
// compiled into a folder of its own beside the final one, which appears whole by a
// rename: two processes that compile at once do not meet.
type cacheFolder struct {
	dir   string // "": none could be had
	final string // set while the folder still has to be published
}

// checksums is the file that lists what else is in a folder. The engine's own checksum
// covers machine code but not the offsets into it: a flipped bit there would be a jump
// to anywhere.
const checksums = "checksums"

// staleAge is when a folder that nobody published counts as left behind.
const staleAge = time.Hour

// openCache returns the module's folder if it is whole, else a new one to compile into.
func (p *Pool) openCache(sha256 string) cacheFolder {
	if p.options.CacheDir == "" {
		return cacheFolder{}
	}
	final := filepath.Join(p.options.CacheDir, sha256)
	switch whole, err := isWhole(final); {
	case whole:
		return cacheFolder{dir: final}
	case err == nil:
		p.log("compile cache of module %.12s is damaged or of another version: compiling again", sha256)
		os.RemoveAll(final)
	}
	dir, err := newCacheFolder(p.options.CacheDir, sha256)
	if err != nil {
		p.log("no compile cache: %v", err)
		return cacheFolder{}
	}
	return cacheFolder{dir: dir, final: final}
}

func newCacheFolder(parent, sha256 string) (string, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	left, _ := filepath.Glob(filepath.Join(parent, sha256+".tmp-*"))
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > staleAge {
			os.RemoveAll(dir)
		}
	}
	return os.MkdirTemp(parent, sha256+".tmp-*")
}

// publish makes a filled folder the one that others find. When another process was
// faster, its folder stays.
func (f cacheFolder) publish() error {
	if f.final == "" {
		return nil
	}
	defer os.RemoveAll(f.dir) // nothing is there any more after the rename
	list, err := describe(f.dir)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(f.dir, checksums), list, 0o600); err != nil {
		return err
	}
	if err := os.Rename(f.dir, f.final); err != nil {
		if _, statErr := os.Stat(f.final); statErr != nil {
			return err
		}
	}
	return nil
}

// abandon removes a folder that was not published.
func (f cacheFolder) abandon() {
	if f.final != "" {
		os.RemoveAll(f.dir)
	}
}

// remove removes a folder that is of no use, published or not.
func (f cacheFolder) remove() {
	if f.dir != "" {
		os.RemoveAll(f.dir)
	}
}

// published reports whether the folder came from an earlier load.
func (f cacheFolder) published() bool { return f.dir != "" && f.final == "" }

// isWhole reports whether the folder holds exactly what was published. An error says
// that there is no folder.
func isWhole(dir string) (bool, error) {
	if _, err := os.Stat(dir); err != nil {
		return false, err
	}
	want, err := os.ReadFile(filepath.Join(dir, checksums))
	if err != nil {
		return false, nil
	}
	got, err := describe(dir)
	return err == nil && bytes.Equal(got, want), nil
}

// describe lists the files of a folder with their checksums, after the engine that they
// belong to. The checksums find damage; they prove nothing against who can write here.
func describe(dir string) ([]byte, error) {
	list := []byte(wazero.Identity() + "\n")
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path == filepath.Join(dir, checksums) {
			return err
		}
		sum, size, err := checksum(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		list = fmt.Appendf(list, "%08x %d %s\n", sum, size, name)
		return err
	})
	return list, err
}

// checksum reads a file piece by piece: machine code is several times its module, and
// fresh memory for all of it costs more than the reading.
func checksum(path string) (sum uint32, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	size, err = io.Copy(hash, f)
	return hash.Sum32(), size, err
}
