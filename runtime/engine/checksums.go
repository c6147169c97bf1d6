package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/aircoding/air/internal/stoppable"
	"github.com/aircoding/air/runtime/engine/wazero"
)

// checksums is the file of a cache entry that lists the others. The engine's own checksum
// covers machine code but not the offsets into it: a flipped bit there would be a jump to
// anywhere.
const checksums = "checksums"

const (
	// maxEntryNames is more than the files and folders that an entry has: the skeleton, the
	// image, the machine code in two folders, and what comes later.
	maxEntryNames = 16
	// maxEntryFile is as large as a worker may make a file.
	maxEntryFile = 512 << 20
	maxChecksums = 4 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// describe lists the files of an entry with their checksums, after the engine that they
// belong to and the size of the module's memory; the last line is a checksum over all
// this. It finds damage; it proves nothing against whoever can write here.
func describe(ctx context.Context, dir, identity string, pages uint32) ([]byte, error) {
	files, err := listed(dir)
	if err != nil {
		return nil, err
	}
	list := fmt.Appendf(nil, "%s\npages %d\n", identity, pages)
	for _, f := range files {
		sum, err := checksum(ctx, filepath.Join(dir, f.name), f.size)
		if err != nil {
			return nil, err
		}
		list = fmt.Appendf(list, "%08x%s", sum, f)
	}
	return fmt.Appendf(list, "%08x\n", crc32.Checksum(list, castagnoli)), nil
}

// verify reads an entry and returns the size of its module's memory. An error says why
// the entry cannot be used. Nothing is read that does not have the size it should have.
func verify(ctx context.Context, dir, identity string) (pages uint32, err error) {
	want, err := readRegular(filepath.Join(dir, checksums), maxChecksums)
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(want, []byte("\n"))
	if _, err := fmt.Sscanf(string(rest), "pages %d\n", &pages); err != nil {
		return 0, errors.New("the list of checksums is damaged")
	}
	files, err := listed(dir)
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		if !bytes.Contains(want, []byte(f.String())) {
			return 0, fmt.Errorf("%s is not listed with its %d bytes", f.name, f.size)
		}
	}
	got, err := describe(ctx, dir, identity, pages)
	if err == nil && !bytes.Equal(got, want) {
		err = errors.New("a checksum does not match")
	}
	return pages, err
}

// entryFile is a file of an entry, by its path in it.
type entryFile struct {
	name string
	size int64
}

// String is what a list of checksums says of the file, beside the checksum.
func (f entryFile) String() string { return fmt.Sprintf(" %d %s\n", f.size, f.name) }

// listed returns the files of an entry that its checksums are about.
func listed(dir string) ([]entryFile, error) {
	files, err := entryFiles(dir)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f entryFile) bool { return f.name == checksums || f.name == wazero.FrozenFile })
	if len(files) == 0 {
		return nil, fmt.Errorf("%s is empty", dir)
	}
	for _, f := range files {
		if f.size > maxEntryFile {
			return nil, fmt.Errorf("%s has %d bytes, the limit is %d", f.name, f.size, int64(maxEntryFile))
		}
	}
	return files, nil
}

// entryFiles returns all that is no folder in an entry, in order; what there is when it
// goes wrong, too. It looks at no more than an entry can hold.
func entryFiles(dir string) (files []entryFile, err error) {
	names := 0
	var walk func(folder string) error
	walk = func(folder string) error {
		f, err := os.OpenFile(filepath.Join(dir, folder), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		all, err := f.ReadDir(maxEntryNames + 1)
		f.Close()
		if err != nil && err != io.EOF {
			return err
		}
		if names += len(all); names > maxEntryNames {
			return fmt.Errorf("%s holds more than %d files and folders", dir, maxEntryNames)
		}
		slices.SortFunc(all, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		for _, d := range all {
			name := filepath.Join(folder, d.Name())
			if d.IsDir() {
				err = walk(name)
			} else if info, infoErr := d.Info(); infoErr == nil {
				files, err = append(files, entryFile{name, info.Size()}), nil
			} else {
				err = infoErr
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	err = walk("")
	return files, err
}

// checksum reads a file of a known size piece by piece: machine code is several times its
// module, and fresh memory for all of it costs more than the reading.
func checksum(ctx context.Context, path string, size int64) (sum uint32, err error) {
	f, err := openRegular(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash := crc32.New(castagnoli)
	read, err := io.Copy(hash, io.LimitReader(stoppable.Reader(ctx, f), size+1))
	if err == nil && read != size {
		err = fmt.Errorf("%s has not the %d bytes that it had", path, size)
	}
	return hash.Sum32(), err
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
