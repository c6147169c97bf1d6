// Package oci moves bundles to and from OCI registries; it never runs them and
// knows of a capability only bytes and media types.
package oci

import (
	"cmp"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/aircoding/air/internal/canon"
)

// Media types of a bundle (https://github.com/opencontainers/image-spec/blob/v1.1.1/manifest.md).
const (
	mediaTypeManifest = "application/vnd.oci.image.manifest.v1+json"
	bundleType        = "application/vnd.air.bundle.v1"
	mediaTypeConfig   = "application/vnd.air.manifest.v1+json"
	MediaTypeModule   = "application/wasm"
	// MediaTypeModuleZstd is a compressed module; two annotations say what it is before.
	MediaTypeModuleZstd = "application/vnd.air.module.v1+zstd"
)

const (
	annotationTitle       = "org.opencontainers.image.title"
	annotationVersion     = "org.opencontainers.image.version"
	annotationDescription = "org.opencontainers.image.description"
	annotationContent     = "dev.air.content.digest"
	annotationContentSize = "dev.air.content.size"
)

// Content is what a layer is once it is decompressed. For a layer that is not
// compressed a Descriptor repeats its Digest and Size here.
type Content struct {
	Digest string
	Size   int64
}

// Layer is one file of a bundle. An empty MediaType means the one of its name.
type Layer struct {
	Title     string // slash-separated path inside the bundle
	MediaType string
	Digest    string
	Size      int64
	Open      func() (io.ReadCloser, error)
	Content   Content // only of a layer that is compressed
}

// Artifact is a bundle on its way to a registry: the capability manifest in
// canonical form, and its files. Layer 0 is the module.
type Artifact struct {
	Config      []byte
	Title       string
	Version     string
	Description string
	Layers      []Layer
}

type wireManifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	ArtifactType  string            `json:"artifactType"`
	Config        wireDescriptor    `json:"config"`
	Layers        []wireDescriptor  `json:"layers"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type wireDescriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Data        []byte            `json:"data,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Manifest returns the OCI manifest of the bundle and its digest, which is the
// bundle's one name. The same input gives the same bytes on every machine: no time,
// no environment, layers 1 and up sorted by title.
func (a Artifact) Manifest() (raw []byte, digest string, err error) {
	m := wireManifest{
		SchemaVersion: 2,
		MediaType:     mediaTypeManifest,
		ArtifactType:  bundleType,
		Config: wireDescriptor{
			MediaType: mediaTypeConfig,
			Digest:    canon.Digest(a.Config),
			Size:      int64(len(a.Config)),
			Data:      a.Config,
		},
		Layers:      []wireDescriptor{},
		Annotations: a.annotations(),
	}
	for _, l := range a.ordered() {
		m.Layers = append(m.Layers, wireDescriptor{
			MediaType:   l.MediaType,
			Digest:      l.Digest,
			Size:        l.Size,
			Annotations: l.annotations(),
		})
	}
	if raw, err = json.Marshal(m); err != nil {
		return nil, "", err
	}
	// What a pull would refuse is never pushed.
	if _, err := ParseManifest(raw); err != nil {
		return nil, "", err
	}
	return raw, canon.Digest(raw), nil
}

func (a Artifact) annotations() map[string]string {
	out := map[string]string{}
	for key, value := range map[string]string{
		annotationTitle:       a.Title,
		annotationVersion:     a.Version,
		annotationDescription: a.Description,
	} {
		if value != "" {
			out[key] = value
		}
	}
	return out
}

func (l Layer) annotations() map[string]string {
	out := map[string]string{annotationTitle: l.Title}
	if l.Content != (Content{}) {
		out[annotationContent] = l.Content.Digest
		out[annotationContentSize] = strconv.FormatInt(l.Content.Size, 10)
	}
	return out
}

// ordered returns the layers as they stand in the manifest, media types filled in.
func (a Artifact) ordered() []Layer {
	layers := slices.Clone(a.Layers)
	for i, l := range layers {
		if l.MediaType == "" {
			layers[i].MediaType = mediaTypeOf(l.Title)
		}
	}
	if len(layers) > 1 {
		slices.SortFunc(layers[1:], func(a, b Layer) int { return cmp.Compare(a.Title, b.Title) })
	}
	return layers
}

// mediaTypeOf names the media type of a file in a bundle. It asks no system table, so
// that the same file has the same type everywhere.
func mediaTypeOf(title string) string {
	if strings.HasPrefix(title, "schemas/") {
		return "application/schema+json"
	}
	switch strings.ToLower(path.Ext(title)) {
	case ".wasm":
		return MediaTypeModule
	case ".md":
		return "text/markdown"
	case ".txt":
		return "text/plain"
	case ".csv":
		return "text/csv"
	case ".html":
		return "text/html"
	case ".json":
		return "application/json"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".pdf":
		return "application/pdf"
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}
