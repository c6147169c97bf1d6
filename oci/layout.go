package oci

import (
	"encoding/json"

	"github.com/aircoding/air/internal/canon"
)

// Names of an OCI image layout (https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md).
const (
	layoutFile    = "oci-layout"
	layoutIndex   = "index.json"
	layoutBlobs   = "blobs/sha256/"
	layoutVersion = "1.0.0"

	annotationRefName   = "org.opencontainers.image.ref.name"
	annotationReference = "io.containerd.image.name" // where buildkit and containerd have the whole reference
)

// Kept is a bundle on its way into an archive.
type Kept struct {
	Reference  string // where it is from; "" when that is no registry
	Manifest   []byte // as it is in the registry
	Config     []byte
	Layers     []Layer // as they are on this machine, never compressed
	Signatures [][]byte
}

// layout is what an archive is made of.
type layout struct {
	cache   cache
	blobs   map[string]Layer // by digest
	entries []wireEntry
}

// add takes in a bundle and its signatures. A bundle that is there already is left as it
// is.
func (l *layout) add(k Kept) error {
	p, err := ParseManifest(k.Manifest)
	if err != nil {
		return err
	}
	if _, ok := l.blobs[p.Digest]; ok {
		return nil
	}
	l.entries = append(l.entries, wireEntry{
		MediaType: mediaTypeManifest, Digest: p.Digest, Size: int64(len(k.Manifest)),
		Annotations: k.names(), ArtifactType: bundleType,
	})
	l.bytes(k.Manifest, k.Config)
	if got := canon.Digest(k.Config); got != p.Config.Digest {
		return mismatch("the manifest's config is %s, and %s is given", p.Config.Digest, got)
	}
	if err := l.layers(p, k.Layers); err != nil {
		return err
	}
	return l.signatures(p.Digest, k)
}

func (l *layout) bytes(blobs ...[]byte) {
	for _, b := range blobs {
		layer := memoryLayer("", b)
		l.blobs[layer.Digest] = layer
	}
}

// layers finds the bytes of each layer: among those on this machine, or, when the
// registry has it compressed, in the cache.
func (l *layout) layers(p Parsed, here []Layer) error {
	for _, d := range p.Layers {
		found, err := l.find(d, here)
		if err != nil {
			return err
		}
		l.blobs[d.Digest] = found
	}
	return nil
}

func (l *layout) find(d Descriptor, here []Layer) (Layer, error) {
	for _, layer := range here {
		if layer.Digest == d.Digest && layer.Size == d.Size {
			return layer, nil
		}
	}
	if l.cache.dir != "" {
		if ok, err := l.cache.has(d); ok || err != nil {
			return fileLayer(d, l.cache.path(d.Digest)), err
		}
	}
	return Layer{}, fail(KindNotFound, "air pull REF brings it again", "%.100q, %s, is no longer on this machine as it was pulled", d.Title, d.Digest)
}

func (l *layout) signatures(subject string, k Kept) error {
	if len(k.Signatures) > MaxReferrers {
		return fail(KindTooLarge, "", "%d signatures, the limit is %d", len(k.Signatures), MaxReferrers)
	}
	for _, s := range k.Signatures {
		a := Signature(s)
		raw, digest, err := a.manifest(subject, int64(len(k.Manifest)))
		if err != nil {
			return err
		}
		if _, ok := l.blobs[digest]; ok {
			continue
		}
		l.bytes(raw, s, emptyJSON)
		l.entries = append(l.entries, wireEntry{
			MediaType: mediaTypeManifest, Digest: digest, Size: int64(len(raw)),
			Annotations: a.Annotations, ArtifactType: a.ArtifactType,
		})
	}
	return nil
}

// names gives a bundle its short name, by which other programs take it out of a layout,
// and its whole reference.
func (k Kept) names() map[string]string {
	names := map[string]string{}
	ref, err := ParseReference(k.Reference)
	if err == nil {
		names[annotationReference] = ref.String()
		names[annotationRefName] = ref.Tag
	}
	if names[annotationRefName] == "" {
		names[annotationRefName] = versionOf(k.Manifest)
	}
	return names
}

// versionOf is the version in a manifest's annotations where it can be a tag, else
// "latest", as programs call what they have no name for.
func versionOf(manifest []byte) string {
	var m struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := json.Unmarshal(manifest, &m); err != nil || !tagGrammar.MatchString(m.Annotations[annotationVersion]) {
		return "latest"
	}
	return m.Annotations[annotationVersion]
}
