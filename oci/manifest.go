package oci

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/aircoding/air/internal/canon"
)

// Limits of a bundle. Whatever is larger is refused before it is fetched.
const (
	MaxManifest   = 4 << 20
	maxConfig     = 256 << 10
	MaxModule     = 32 << 20
	MaxLayer      = 64 << 20  // each layer but the module
	MaxLayers     = 128       // count, the module included
	MaxLayerBytes = 256 << 20 // all layers but the module
)

// Descriptor points to one blob. Title is empty for the config; Data is what the
// manifest inlined, already compared with Digest and Size.
type Descriptor struct {
	MediaType string
	Digest    string
	Size      int64
	Title     string
	Data      []byte
	Content   Content
}

// Parsed is a manifest of which everything has been checked but the blobs.
type Parsed struct {
	Digest string
	Config Descriptor
	Layers []Descriptor // layer 0 is the module
}

const hintNotBundle = "the reference names something that is no AIR bundle; compare it with what air push printed"

// ParseManifest reads the manifest of a bundle from a registry's bytes and refuses
// everything that is not one. Its error is an *Error.
func ParseManifest(raw []byte) (Parsed, error) {
	if len(raw) > MaxManifest {
		return Parsed{}, fail(KindTooLarge, "", "manifest has %d bytes, the limit is %d", len(raw), MaxManifest)
	}
	if err := canon.Check(raw, canon.Limits{Bytes: MaxManifest, Depth: 32, Values: 100_000, Strict: true}); err != nil {
		return Parsed{}, fail(KindInvalid, hintNotBundle, "manifest is no acceptable JSON: %w", err)
	}
	p, err := decodeManifest(raw)
	if err != nil {
		return Parsed{}, err
	}
	p.Digest = canon.Digest(raw)
	return p, p.check()
}

func decodeManifest(raw []byte) (Parsed, error) {
	var (
		m                       Parsed
		version                 int
		mediaType, artifactType string
		annotations             map[string]string // nobody needs them, and they must be right
		config, manifests       json.RawMessage
		subject                 json.RawMessage
		layers                  []json.RawMessage
	)
	err := decodeObject(raw, map[string]any{
		"schemaVersion": &version, "mediaType": &mediaType, "artifactType": &artifactType,
		"config": &config, "layers": &layers, "annotations": &annotations, "manifests": &manifests,
		"subject": &subject,
	})
	switch {
	case err != nil:
		return m, fail(KindInvalid, hintNotBundle, "manifest: %w", err)
	case isIndex(mediaType) || manifests != nil:
		return m, fail(KindInvalid, "name one bundle: REPOSITORY@sha256:… or a tag of its own", "an index stands where a bundle's manifest is expected")
	case version != 2 || mediaType != mediaTypeManifest:
		return m, fail(KindInvalid, hintNotBundle, "manifest has schemaVersion %d and media type %.100q, expected 2 and %q", version, mediaType, mediaTypeManifest)
	case artifactType != bundleType:
		return m, fail(KindInvalid, hintNotBundle, "artifact type is %.100q, expected %q", artifactType, bundleType)
	case subject != nil:
		return m, fail(KindInvalid, hintNotBundle, "manifest has a subject, and a bundle refers to nothing")
	case len(layers) == 0:
		return m, fail(KindInvalid, hintNotBundle, "manifest has no layer, so no module")
	case len(layers) > MaxLayers:
		return m, fail(KindTooLarge, "", "manifest has %d layers, the limit is %d", len(layers), MaxLayers)
	}
	if m.Config, err = decodeDescriptor("config", config); err != nil {
		return m, err
	}
	for i, l := range layers {
		d, err := decodeDescriptor(fmt.Sprintf("layer %d", i), l)
		if err != nil {
			return m, err
		}
		m.Layers = append(m.Layers, d)
	}
	return m, nil
}

func isIndex(mediaType string) bool {
	return mediaType == "application/vnd.oci.image.index.v1+json" ||
		mediaType == "application/vnd.docker.distribution.manifest.list.v2+json"
}

func decodeDescriptor(what string, raw json.RawMessage) (Descriptor, error) {
	var (
		d           Descriptor
		data        *[]byte
		annotations map[string]string
	)
	if raw == nil {
		return d, fail(KindInvalid, hintNotBundle, "manifest has no %s", what)
	}
	err := decodeObject(raw, map[string]any{
		"mediaType": &d.MediaType, "digest": &d.Digest, "size": &d.Size,
		"data": &data, "annotations": &annotations,
	})
	if err != nil {
		return d, fail(KindInvalid, hintNotBundle, "%s: %w", what, err)
	}
	d.Title = annotations[annotationTitle]
	d.Content = Content{d.Digest, d.Size}
	if !ValidDigest(d.Digest) {
		return d, fail(KindInvalid, hintNotBundle, "%s: %.100q is no sha256 digest", what, d.Digest)
	}
	if d.Size < 0 {
		return d, fail(KindInvalid, hintNotBundle, "%s: size %d is negative", what, d.Size)
	}
	if err := d.decodeContent(what, annotations); err != nil {
		return d, err
	}
	if data != nil {
		d.Data = *data
		if int64(len(d.Data)) != d.Size || canon.Digest(d.Data) != d.Digest {
			return d, fail(KindIntegrity, "do not use this bundle; ask its publisher", "%s: the data inlined in the manifest is not what its digest %s names", what, d.Digest)
		}
	}
	return d, nil
}

// decodeObject decodes the named members of a JSON object. encoding/json would also
// take "Layers" for "layers"; two readers could then see two different manifests.
func decodeObject(raw []byte, into map[string]any) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return fmt.Errorf("expected an object: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(into)) {
		member, ok := members[name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(member, into[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (p Parsed) check() error {
	if p.Config.MediaType != mediaTypeConfig {
		return fail(KindInvalid, hintNotBundle, "config has media type %.100q, expected %q", p.Config.MediaType, mediaTypeConfig)
	}
	if first := p.Layers[0].MediaType; first != MediaTypeModule && first != MediaTypeModuleZstd {
		return fail(KindInvalid, hintNotBundle, "layer 0 has media type %.100q, expected the module, %q", first, MediaTypeModule)
	}
	for i, l := range p.Layers[1:] {
		if l.MediaType == MediaTypeModuleZstd {
			return fail(KindInvalid, hintNotBundle, "layer %d is a compressed module, and only layer 0 is a module", i+1)
		}
	}
	if err := p.checkSizes(); err != nil {
		return err
	}
	return checkTitles(p.Layers)
}

func (p Parsed) checkSizes() error {
	if p.Config.Size > maxConfig {
		return fail(KindTooLarge, "", "config has %d bytes, the limit is %d", p.Config.Size, maxConfig)
	}
	if size := max(p.Layers[0].Size, p.Layers[0].Content.Size); size > MaxModule {
		return fail(KindTooLarge, "", "module has %d bytes, the limit is %d", size, MaxModule)
	}
	var total int64
	for _, l := range p.Layers[1:] {
		if l.Size > MaxLayer {
			return fail(KindTooLarge, "", "layer %.100q has %d bytes, the limit is %d", l.Title, l.Size, MaxLayer)
		}
		total += l.Size
	}
	if total > MaxLayerBytes {
		return fail(KindTooLarge, "", "the layers have %d bytes in all, the limit is %d", total, MaxLayerBytes)
	}
	return p.checkOneSizePerDigest()
}

func (p Parsed) checkOneSizePerDigest() error {
	sizes := map[string]int64{p.Config.Digest: p.Config.Size}
	for _, l := range p.Layers {
		for _, c := range []Content{{l.Digest, l.Size}, l.Content} {
			if size, ok := sizes[c.Digest]; ok && size != c.Size {
				return fail(KindInvalid, hintNotBundle, "%s is given two sizes, %d and %d", c.Digest, size, c.Size)
			}
			sizes[c.Digest] = c.Size
		}
	}
	return nil
}

// ValidDigest reports whether d is "sha256:" and 64 lower-case hex digits.
func ValidDigest(d string) bool {
	const prefix = "sha256:"
	if len(d) != len(prefix)+64 || d[:len(prefix)] != prefix {
		return false
	}
	for _, c := range d[len(prefix):] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
