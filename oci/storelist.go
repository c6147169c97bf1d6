package oci

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cuelabs.dev/go/oci/ociregistry"
)

func (s *dirStore) Tags(_ context.Context, repo, startAfter string) iter.Seq2[string, error] {
	dir, err := s.repoPath(repo)
	if err != nil {
		return ociregistry.ErrorSeq[string](err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "_tags"))
	if errors.Is(err, fs.ErrNotExist) && s.missing(repo) == ociregistry.ErrManifestUnknown {
		err = nil // a repository whose manifests have no tags
	}
	if err != nil {
		return ociregistry.ErrorSeq[string](unknown(err, ociregistry.ErrNameUnknown))
	}
	var tags []string
	for _, e := range entries {
		// A temporary file of a tag being written is no valid tag.
		if e.Name() > startAfter && tagGrammar.MatchString(e.Name()) {
			tags = append(tags, e.Name())
		}
	}
	return ociregistry.SliceSeq(tags)
}

func (s *dirStore) Repositories(_ context.Context, startAfter string) iter.Seq2[string, error] {
	names, err := s.repositories()
	if err != nil {
		return ociregistry.ErrorSeq[string](err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name <= startAfter })
	return ociregistry.SliceSeq(names)
}

// repositories lists those that have manifests, or had, in order.
func (s *dirStore) repositories() (names []string, err error) {
	root := filepath.Join(s.dir, "repositories")
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(e.Name(), "_") {
			return err
		}
		if e.Name() == "_manifests" {
			name, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			names = append(names, filepath.ToSlash(name))
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}
