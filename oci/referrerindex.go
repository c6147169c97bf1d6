package oci

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aircoding/air/internal/canon"
)

// Registries without a referrers API have no compare-and-swap either: of two clients
// that read the index, add to it and write it back, one is overwritten. So a client
// that has written waits, reads again, and writes again unless all that it ever saw is
// there. The wait is longer than another client needs between its reading and writing.
const (
	indexTries = 24
	settle     = 250 * time.Millisecond
)

// indexTag is where the index of what refers to a bundle lies.
func indexTag(digest string) string { return strings.Replace(digest, ":", "-", 1) }

// entry is one descriptor of an index; raw is all of it.
type entry struct {
	digest       string
	size         int64 // as the index has it
	artifactType string
	raw          json.RawMessage
}

type wireEntry struct {
	MediaType    string            `json:"mediaType"`
	Digest       string            `json:"digest"`
	Size         int64             `json:"size"`
	Annotations  map[string]string `json:"annotations,omitempty"`
	ArtifactType string            `json:"artifactType,omitempty"`
}

type wireIndex struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Manifests     []json.RawMessage `json:"manifests"`
}

// newEntry describes an attachment whose manifest is raw.
func newEntry(a Attachment, raw []byte) (entry, error) {
	e := entry{digest: canon.Digest(raw), size: int64(len(raw)), artifactType: a.ArtifactType}
	var err error
	e.raw, err = json.Marshal(wireEntry{
		MediaType: mediaTypeManifest, Digest: e.digest, Size: e.size,
		Annotations: a.Annotations, ArtifactType: a.ArtifactType,
	})
	return e, err
}

// addToIndex makes an entry known and loses none of the others. It returns all of them.
func (s *session) addToIndex(ctx context.Context, tag string, own entry) ([]entry, error) {
	seen := []entry{own}
	for range indexTries {
		started := time.Now()
		now, err := s.readIndex(ctx, tag)
		if err != nil {
			return nil, err
		}
		seen = union(seen, now)
		if len(seen) == len(now) {
			return seen, nil
		}
		raw, err := encodeIndex(seen)
		if err != nil {
			return nil, err
		}
		if err := s.putManifest(ctx, tag, mediaTypeIndex, raw); err != nil {
			return nil, err
		}
		wait := settle + 4*time.Since(started)
		if !sleep(ctx, wait+rand.N(wait)) {
			return nil, ctx.Err()
		}
	}
	return nil, fail(KindConflict, "try again when nobody else does", "%s: others keep overwriting the tag %s", s.ref.Registry, tag)
}

// readIndex returns the index under a tag, an empty one when there is none.
func (s *session) readIndex(ctx context.Context, tag string) ([]entry, error) {
	raw, _, err := s.read(ctx, "manifests/"+tag, acceptManifests, MaxManifest)
	if answered(err, http.StatusNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseIndex(raw)
}

// parseIndex reads an index that a registry sends, each digest once.
func parseIndex(raw []byte) ([]entry, error) {
	list, mediaType, err := decodeIndex(raw)
	if err == nil && mediaType != mediaTypeIndex {
		err = fail(KindInvalid, "", "something with media type %.100q stands where an index is expected", mediaType)
	}
	return union(list, nil), err
}

// decodeIndex returns the entries of an index in its order. Their digests may be
// anything.
func decodeIndex(raw []byte) (list []entry, mediaType string, err error) {
	var (
		version   int
		manifests []json.RawMessage
	)
	if err := checkJSON("index", raw, MaxManifest); err != nil {
		return nil, "", err
	}
	err = decodeObject(raw, map[string]any{"schemaVersion": &version, "mediaType": &mediaType, "manifests": &manifests})
	switch {
	case err != nil:
		return nil, "", fail(KindInvalid, "", "index: %w", err)
	case version != 2:
		return nil, "", fail(KindInvalid, "", "something with schemaVersion %d stands where an index is expected", version)
	}
	for _, m := range manifests {
		e := entry{raw: m}
		if err := decodeObject(m, map[string]any{"digest": &e.digest, "size": &e.size, "artifactType": &e.artifactType}); err != nil {
			return nil, "", fail(KindInvalid, "", "index: %w", err)
		}
		list = append(list, e)
	}
	return list, mediaType, nil
}

// union returns the entries of both, each digest once, sorted by it.
func union(a, b []entry) []entry {
	all := map[string]entry{}
	for _, e := range slices.Concat(a, b) {
		all[e.digest] = e
	}
	return slices.SortedFunc(maps.Values(all), func(a, b entry) int { return cmp.Compare(a.digest, b.digest) })
}

func encodeIndex(list []entry) ([]byte, error) {
	w := wireIndex{SchemaVersion: 2, MediaType: mediaTypeIndex, Manifests: []json.RawMessage{}}
	for _, e := range list {
		w.Manifests = append(w.Manifests, e.raw)
	}
	raw, err := json.Marshal(w)
	if err == nil && len(raw) > MaxManifest {
		err = fail(KindTooLarge, "", "the index of what refers to this bundle would have more than %d bytes", MaxManifest)
	}
	return raw, err
}
