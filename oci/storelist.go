package oci

import (
	"context"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"cuelabs.dev/go/oci/ociregistry"
)

func (s *dirStore) Tags(_ context.Context, repo, startAfter string) iter.Seq2[string, error] {
	dir, err := s.repoPath(repo)
	if err != nil {
		return ociregistry.ErrorSeq[string](err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "_tags"))
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
	root := filepath.Join(s.dir, "repositories")
	var names []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "_manifests" {
			return err
		}
		name, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		if name = filepath.ToSlash(name); name > startAfter {
			names = append(names, name)
		}
		return fs.SkipDir
	})
	if err != nil {
		return ociregistry.ErrorSeq[string](err)
	}
	slices.Sort(names)
	return ociregistry.SliceSeq(names)
}
