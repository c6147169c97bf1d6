package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"cuelabs.dev/go/oci/ociregistry"
	imagespec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/aircoding/air/internal/canon"
)

// references is what a manifest or an index says about other content.
type references struct {
	ArtifactType string                   `json:"artifactType"`
	Config       *ociregistry.Descriptor  `json:"config"`
	Layers       []ociregistry.Descriptor `json:"layers"`
	Manifests    []ociregistry.Descriptor `json:"manifests"`
	Subject      *ociregistry.Descriptor  `json:"subject"`
	Annotations  map[string]string        `json:"annotations"`
}

// readReferences reads a manifest. Its values are counted before it is decoded: a million
// empty layers fit into a few megabytes.
func readReferences(manifest []byte) (refs references, err error) {
	err = canon.Check(manifest, canon.Limits{Bytes: MaxManifest, Depth: 32, Values: 100_000})
	if err == nil {
		err = json.Unmarshal(manifest, &refs)
	}
	if err != nil {
		return refs, fmt.Errorf("%w: %w", ociregistry.ErrManifestInvalid, err)
	}
	return refs, nil
}

// referrerOf describes a manifest as the list of its subject's referrers does, by
// https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#listing-referrers
func (r references) referrerOf(desc ociregistry.Descriptor) ociregistry.Descriptor {
	desc.Annotations = r.Annotations
	desc.ArtifactType = r.ArtifactType
	if desc.ArtifactType == "" && r.Config != nil && desc.MediaType == imagespec.MediaTypeImageManifest {
		desc.ArtifactType = r.Config.MediaType
	}
	return desc
}

// subject returns what a manifest refers to, "" for none. Other media types have no
// such field.
func (r references) subject(mediaType string) ociregistry.Digest {
	if r.Subject == nil || mediaType != imagespec.MediaTypeImageManifest && mediaType != imagespec.MediaTypeImageIndex {
		return ""
	}
	return r.Subject.Digest
}

func (s *dirStore) writeReferrer(repo string, subject ociregistry.Digest, desc ociregistry.Descriptor) error {
	path, err := s.referrerPath(repo, subject, desc.Digest)
	if err != nil {
		return err
	}
	text, err := json.Marshal(desc)
	if err != nil {
		return err
	}
	return s.writeEntry(path, text)
}

func (s *dirStore) Referrers(ctx context.Context, repo string, digest ociregistry.Digest, artifactType string) iter.Seq2[ociregistry.Descriptor, error] {
	return s.referrersAfter(ctx, repo, digest, artifactType, "")
}

// referrersAfter lists in the order of digests. The files of a subject are its index:
// no other manifest is looked at.
func (s *dirStore) referrersAfter(_ context.Context, repo string, digest ociregistry.Digest, artifactType, after string) iter.Seq2[ociregistry.Descriptor, error] {
	path, err := s.referrerPath(repo, digest, digest)
	if err != nil {
		return ociregistry.ErrorSeq[ociregistry.Descriptor](err)
	}
	names, err := digestsIn(filepath.Dir(path))
	if err != nil {
		return ociregistry.ErrorSeq[ociregistry.Descriptor](err)
	}
	return func(yield func(ociregistry.Descriptor, error) bool) {
		for _, referrer := range names {
			if string(referrer) <= after {
				continue
			}
			desc, ok, err := s.referrer(repo, digest, referrer)
			if err == nil && (!ok || artifactType != "" && desc.ArtifactType != artifactType) {
				continue
			}
			if !yield(desc, err) || err != nil {
				return
			}
		}
	}
}

// referrer reads one entry. It counts only while its manifest is there: a push writes
// it before the manifest, a deletion removes it after.
func (s *dirStore) referrer(repo string, subject, referrer ociregistry.Digest) (desc ociregistry.Descriptor, ok bool, err error) {
	path, err := s.referrerPath(repo, subject, referrer)
	if err != nil {
		return desc, false, err
	}
	manifest, err := s.manifestPath(repo, referrer)
	if err != nil || !isFile(manifest) {
		return desc, false, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return desc, false, nil
	}
	if err != nil {
		return desc, false, err
	}
	return desc, true, json.Unmarshal(text, &desc)
}

// digestsIn lists a folder's files that are named by a digest, in order. A missing
// folder has none.
func digestsIn(dir string) ([]ociregistry.Digest, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var digests []ociregistry.Digest
	for _, name := range names {
		if ValidDigest("sha256:" + name) {
			digests = append(digests, ociregistry.Digest("sha256:"+name))
		}
	}
	return digests, nil
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
