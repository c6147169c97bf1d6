package capabilities

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/oci"
)

// folder reads the files of a bundle from a folder that somebody else may have
// written: nothing outside it is reached, no link followed, no device opened.
type folder struct {
	dir  string
	root *os.Root
}

func openFolder(dir string) (*folder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(abs); err == nil && !info.IsDir() { // a pipe would be waited for
		return nil, fault.New(fault.InvalidInput, "no_folder", "bundle %s is no folder", dir).WithHint("want a folder with %s or %s", manifestJSON, manifestMD)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		kind := fault.InvalidInput
		if errors.Is(err, fs.ErrNotExist) {
			kind = fault.NotFound
		}
		return nil, fault.New(kind, "no_folder", "bundle %s: %w", dir, err).WithHint("want a folder with %s or %s", manifestJSON, manifestMD)
	}
	return &folder{abs, root}, nil
}

func (f *folder) close() { _ = f.root.Close() }

// manifest reads the one manifest of the folder and the help text.
func (f *folder) manifest() (*Manifest, []byte, error) {
	jsonText, jsonErr := f.read(manifestJSON, maxManifest)
	mdText, mdErr := f.read(manifestMD, maxMD)
	haveJSON, haveMD := !errors.Is(jsonErr, fs.ErrNotExist), !errors.Is(mdErr, fs.ErrNotExist)
	switch {
	case haveJSON && haveMD:
		return nil, nil, badBundle("%s has both %s and %s", f.dir, manifestJSON, manifestMD).WithHint("a capability has one manifest: remove one of them")
	case !haveJSON && !haveMD:
		return nil, nil, badBundle("%s has no manifest", f.dir).WithHint("want %s or %s there", manifestJSON, manifestMD)
	case jsonErr != nil && haveJSON:
		return nil, nil, jsonErr
	case mdErr != nil && haveMD:
		return nil, nil, mdErr
	}
	help, err := f.read(helpFile, oci.MaxLayer)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if haveJSON {
		m, err := ParseManifest(jsonText)
		return m, help, named(filepath.Join(f.dir, manifestJSON), err)
	}
	m, body, err := parseCapabilityMD(mdText)
	if len(body) > 0 && len(help) > 0 {
		return nil, nil, badBundle("%s has a help text in %s and one in %s", f.dir, manifestMD, helpFile).WithHint("keep one of them")
	}
	return m, append(help, body...), named(filepath.Join(f.dir, manifestMD), err)
}

// named says in front of an error which file it is about.
func named(file string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", file, err)
}

// read returns a regular file of at most limit bytes.
func (f *folder) read(name string, limit int64) ([]byte, error) {
	file, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := regular.ReadFile(file, limit)
	if errors.Is(err, regular.ErrTooLarge) {
		return nil, f.tooLarge(name, limit)
	}
	return content, err
}

func (f *folder) tooLarge(name string, limit int64) error {
	return badBundle("%s has more than %d bytes", f.path(name), limit)
}

// open opens a regular file. No part of its path may be a symbolic link.
func (f *folder) open(name string) (*os.File, error) {
	for part := name; part != "."; part = path.Dir(part) {
		info, err := f.root.Lstat(part)
		if err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return nil, badBundle("%s is a symbolic link: a bundle has none", filepath.Join(f.dir, part))
		}
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(badBundle("%s is no regular file", filepath.Join(f.dir, name)), err, file.Close())
	}
	return file, nil
}

// addFolders adds every file of the bundle's folders.
func (f *folder) addFolders(layers []oci.Layer) ([]oci.Layer, error) {
	var total int64
	for _, l := range layers[1:] {
		total += l.Size
	}
	for _, name := range bundleFolders {
		info, err := f.root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case !info.IsDir():
			return nil, badBundle("%s is no folder: a bundle keeps files in it", filepath.Join(f.dir, name))
		}
		err = fs.WalkDir(f.root.FS(), name, func(at string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			l, err := f.hash(at, &total)
			if len(layers) == oci.MaxLayers {
				return badBundle("%s has more than %d files", f.dir, oci.MaxLayers)
			}
			layers = append(layers, l)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return layers, nil
}

// hash reads one file for its digest; total counts what all files may have together.
func (f *folder) hash(name string, total *int64) (l oci.Layer, err error) {
	if why := oci.UnsafeTitle(name); why != "" {
		return l, badBundle("the name %.100q in %s %s", name, f.dir, why)
	}
	file, err := f.open(name)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if info, err := file.Stat(); err == nil && info.Size() > oci.MaxLayer {
		return l, f.tooLarge(name, oci.MaxLayer)
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(file, oci.MaxLayer+1))
	if err != nil {
		return l, err
	}
	if *total += n; n > oci.MaxLayer || *total > oci.MaxLayerBytes {
		return l, badBundle("%s: the files besides the module have more than %d bytes in all, or this one more than %d", f.path(name), oci.MaxLayerBytes, oci.MaxLayer)
	}
	return f.described(name, "sha256:"+hex.EncodeToString(sum.Sum(nil)), n), nil
}

// layer is a file that was read already.
func (f *folder) layer(name string, content []byte) oci.Layer {
	l := memoryLayer(name, content)
	return f.described(name, l.Digest, l.Size)
}

// described is a file that is read again when its content is wanted.
func (f *folder) described(name, digest string, size int64) oci.Layer {
	dir := f.dir
	return oci.Layer{Title: name, Digest: digest, Size: size, Open: func() (io.ReadCloser, error) {
		again, err := openFolder(dir)
		if err != nil {
			return nil, err
		}
		defer again.close()
		return again.open(name)
	}}
}

// inBundleFolder reports whether a path lies in one of the folders of a bundle.
func inBundleFolder(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return slices.Contains(bundleFolders, first)
}

// BundleNames are the names of files and folders that belong to a bundle whatever its
// manifest says. The module is the one other file.
func BundleNames() []string {
	return append([]string{manifestJSON, manifestMD, helpFile}, bundleFolders...)
}
