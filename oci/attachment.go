package oci

import (
	"encoding/json"

	"github.com/aircoding/air/internal/canon"
)

// Limits of what refers to a bundle. From a registry more is read than an archive holds:
// anybody who may push can attach something there.
const (
	MaxReferrers  = 64      // of one type in an archive
	MaxAttachment = 1 << 20 // bytes of one
	maxRead       = 1000    // of one type, the smallest, that are read from a registry
	maxReadBytes  = 4 << 20 // of these together
	maxListed     = 10_000  // that are looked at to find those
)

const mediaTypeEmpty = "application/vnd.oci.empty.v1+json"

// emptyJSON is the content of the empty descriptor
// (https://github.com/opencontainers/image-spec/blob/v1.1.1/manifest.md#guidance-for-an-empty-descriptor).
var emptyJSON = []byte("{}")

// Attachment is one document that refers to a bundle, such as a signature.
type Attachment struct {
	ArtifactType string
	MediaType    string // of Content
	Content      []byte // at most MaxAttachment
	Annotations  map[string]string
}

type wireReferrer struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	ArtifactType  string            `json:"artifactType"`
	Config        wireDescriptor    `json:"config"`
	Layers        []wireDescriptor  `json:"layers"`
	Subject       wireDescriptor    `json:"subject"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

// manifest returns the manifest that attaches a to the bundle whose manifest has a
// digest and a size, and its own digest. The same input gives the same bytes.
func (a Attachment) manifest(subject string, size int64) (raw []byte, digest string, err error) {
	if len(a.Content) > MaxAttachment {
		return nil, "", fail(KindTooLarge, "", "the attachment has %d bytes, the limit is %d", len(a.Content), MaxAttachment)
	}
	if a.ArtifactType == "" || a.MediaType == "" {
		return nil, "", fail(KindInvalid, "", "an attachment needs an artifact type and a media type")
	}
	raw, err = json.Marshal(wireReferrer{
		SchemaVersion: 2,
		MediaType:     mediaTypeManifest,
		ArtifactType:  a.ArtifactType,
		Config:        wireDescriptor{MediaType: mediaTypeEmpty, Digest: canon.Digest(emptyJSON), Size: int64(len(emptyJSON))},
		Layers:        []wireDescriptor{{MediaType: a.MediaType, Digest: canon.Digest(a.Content), Size: int64(len(a.Content))}},
		Subject:       wireDescriptor{MediaType: mediaTypeManifest, Digest: subject, Size: size},
		Annotations:   a.Annotations,
	})
	return raw, canon.Digest(raw), err
}

// attached is the manifest of something that refers to a bundle.
type attached struct {
	artifactType string
	subject      string // digest
	layer        Descriptor
	annotations  map[string]string
}

// parseAttached reads the manifest of a referrer with one layer.
func parseAttached(raw []byte) (attached, error) {
	var (
		a                 attached
		version           int
		mediaType         string
		config, subject   json.RawMessage
		layers, manifests []json.RawMessage
	)
	if err := checkJSON("referrer", raw, MaxAttachment); err != nil {
		return a, err
	}
	err := decodeObject(raw, map[string]any{
		"schemaVersion": &version, "mediaType": &mediaType, "artifactType": &a.artifactType, "annotations": &a.annotations,
		"config": &config, "layers": &layers, "subject": &subject, "manifests": &manifests,
	})
	switch {
	case err != nil:
		return a, fail(KindInvalid, "", "referrer: %w", err)
	case version != 2 || mediaType != mediaTypeManifest || manifests != nil:
		return a, fail(KindInvalid, "", "a referrer is no image manifest")
	}
	d, err := decodeDescriptor("config", config)
	if err != nil {
		return a, err
	}
	if a.artifactType == "" {
		a.artifactType = d.MediaType
	}
	if subject != nil {
		of, err := decodeDescriptor("subject", subject)
		if err != nil {
			return a, err
		}
		a.subject = of.Digest
	}
	if len(layers) == 1 {
		a.layer, err = decodeDescriptor("layer 0", layers[0])
	}
	return a, err
}

// check says whether the manifest is one of a type that refers to a bundle and has one
// layer of an acceptable size.
func (a attached) check(subject, artifactType string) error {
	switch {
	case a.subject != subject:
		return fail(KindInvalid, "", "it refers to %.100q", a.subject)
	case a.artifactType != artifactType:
		return fail(KindInvalid, "", "its type is %.100q", a.artifactType)
	case a.layer.Digest == "":
		return fail(KindInvalid, "", "it has not exactly one layer")
	case a.layer.Size > MaxAttachment:
		return fail(KindTooLarge, "", "it has %d bytes, the limit is %d", a.layer.Size, MaxAttachment)
	}
	return nil
}
