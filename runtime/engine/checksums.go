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
	"syscall"
)

// checksums is the file of a cache entry that lists the others. The engine's own checksum
// covers machine code but not the offsets into it: a flipped bit there would be a jump to
// anywhere.
const checksums = "checksums"

const (
	// maxEntryFiles is more than the files that an entry has: the skeleton, the image and
	// the machine code.
	maxEntryFiles = 8
	maxChecksums  = 4 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// describe lists the files of an entry with their checksums, after the engine that they
// belong to and the size of the module's memory; the last line is a checksum over all
// this. It finds damage; it proves nothing against who can write here.
func describe(dir, identity string, pages uint32) ([]byte, error) {
	list := fmt.Appendf(nil, "%s\npages %d\n", identity, pages)
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || isLater(dir, path) {
			return err
		}
		if files++; files > maxEntryFiles {
			return fmt.Errorf("%s holds more than %d files", dir, maxEntryFiles)
		}
		sum, size, err := checksum(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		list = fmt.Appendf(list, "%08x %d %s\n", sum, size, name)
		return err
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("%s is empty", dir)
	}
	return fmt.Appendf(list, "%08x\n", crc32.Checksum(list, castagnoli)), err
}

// isLater tells the files that are not there yet when an entry is described.
func isLater(dir, path string) bool {
	return path == filepath.Join(dir, checksums) || path == filepath.Join(dir, frozenFile)
}

// verify reads an entry and returns the size of its module's memory. An error says why
// the entry cannot be used.
func verify(dir, identity string) (pages uint32, err error) {
	want, err := readRegular(filepath.Join(dir, checksums), maxChecksums)
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(want, []byte("\n"))
	if _, err := fmt.Sscanf(string(rest), "pages %d\n", &pages); err != nil {
		return 0, errors.New("the list of checksums is damaged")
	}
	got, err := describe(dir, identity, pages)
	if err == nil && !bytes.Equal(got, want) {
		err = errors.New("a checksum does not match")
	}
	return pages, err
}

// checksum reads a file piece by piece: machine code is several times its module, and
// fresh memory for all of it costs more than the reading.
func checksum(path string) (sum uint32, size int64, err error) {
	f, err := openRegular(path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash := crc32.New(castagnoli)
	size, err = io.Copy(hash, f)
	return hash.Sum32(), size, err
}

// openRegular opens what a worker wrote, which need not be what it should: a link leads
// anywhere, and a pipe stops the reader.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func readRegular(path string, limit int64) (data []byte, err error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, at most %d are read", path, info.Size(), limit)
	}
	data = make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}
