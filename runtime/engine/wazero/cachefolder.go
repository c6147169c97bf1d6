package wazero

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrCache is a cache folder that could not be read or written, or whose contents do not
// belong together. It says nothing about the module.
var ErrCache = errors.New("compile cache")

// What a cache folder holds.
const (
	// FrozenFile is the image after _initialize, which the host adds later than the rest.
	FrozenFile = "frozen"

	skeletonFile = "skeleton.wasm" // the module without its bodies
	imageFile    = "image"         // the plain image
	codeFolder   = "code"          // wazero's own folder with one file: the machine code of all bodies
	fullFolder   = "full"          // the same while Compile is at work
)

// codeFile finds the only file in wazero's folder below dir.
func codeFile(dir string) (string, error) {
	folder, err := only(dir)
	if err != nil {
		return "", err
	}
	return only(folder)
}

// only returns the path of the one thing in a folder.
func only(dir string) (string, error) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return "", cacheFault(err)
	}
	if len(all) != 1 {
		return "", cacheFault(fmt.Errorf("%d files or folders where machine code should be, want 1", len(all)))
	}
	return filepath.Join(dir, all[0].Name()), nil
}

func writeFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func cacheFault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrCache, err)
}

// isFileFault tells trouble with files from trouble with the module.
func isFileFault(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	var errno syscall.Errno
	return errors.As(err, &path) || errors.As(err, &link) || errors.As(err, &errno) ||
		strings.HasPrefix(err.Error(), "compilationcache:")
}
