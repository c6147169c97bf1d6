package oci

import (
	"context"
	"encoding/json"
)

// Of the layout in which other runtimes expect a module
// (https://tag-runtime.cncf.io/wgs/wasm/deliverables/wasm-oci-artifact/).
const (
	mediaTypeWasmConfig = "application/vnd.wasm.config.v0+json"
	wasmViewEnd         = "-wasm" // behind the tag of the bundle
)

// wasmConfig is the configuration of that layout. Its fields beside these are for
// components, and for who made it.
type wasmConfig struct {
	Created      string   `json:"created"` // required there; always the same, so that the bytes are
	Architecture string   `json:"architecture"`
	OS           string   `json:"os"` // wasip1: what is no component
	LayerDigests []string `json:"layerDigests"`
}

type wasmManifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        wireDescriptor    `json:"config"`
	Layers        []wireDescriptor  `json:"layers"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

// PushWasmView stores the module of a bundle under the bundle's tag and "-wasm", as
// runtimes without AIR take it. It is the same blob as in a bundle that is not compressed,
// and without the manifest of the capability: for modules that are commands of WASI only.
func (c *Client) PushWasmView(ctx context.Context, reference string, a Artifact, o PushOptions) (Pushed, error) {
	pushed, err := c.pushWasmView(ctx, reference, a, o)
	return pushed, during("pushing the module of", reference, err)
}

func (c *Client) pushWasmView(ctx context.Context, reference string, a Artifact, o PushOptions) (Pushed, error) {
	ref, err := WasmView(reference)
	if err != nil {
		return Pushed{}, err
	}
	if len(a.Layers) == 0 {
		return Pushed{}, fail(KindInvalid, hintNotBundle, "the bundle has no module")
	}
	raw, config, err := a.wasmView()
	if err != nil {
		return Pushed{}, err
	}
	module := a.ordered()[0]
	return c.pushTo(ctx, ref, raw, []Layer{configLayer(mediaTypeWasmConfig, config), module}, o)
}

// WasmView is where the module of a bundle is pushed to beside it.
func WasmView(reference string) (Reference, error) {
	ref, err := ParseReference(reference)
	if err != nil {
		return ref, err
	}
	if ref.Digest != "" {
		return ref, fail(KindInvalid, "the digest follows from the content; name a tag", "a push needs a tag")
	}
	if ref.Tag += wasmViewEnd; !tagGrammar.MatchString(ref.Tag) {
		return ref, fail(KindInvalid, "take a shorter tag", "the tag %s is longer than 128 characters", ref.Tag)
	}
	return ref, nil
}

// wasmView returns manifest and configuration. They depend on the bundle alone.
func (a Artifact) wasmView() (manifest, config []byte, err error) {
	module := a.ordered()[0]
	config, err = json.Marshal(wasmConfig{
		Created: "1970-01-01T00:00:00Z", Architecture: "wasm", OS: "wasip1", LayerDigests: []string{module.Digest},
	})
	if err != nil {
		return nil, nil, err
	}
	c := configLayer(mediaTypeWasmConfig, config)
	manifest, err = json.Marshal(wasmManifest{
		SchemaVersion: 2, MediaType: mediaTypeManifest,
		Config:      wireDescriptor{MediaType: c.MediaType, Digest: c.Digest, Size: c.Size},
		Layers:      []wireDescriptor{{MediaType: MediaTypeModule, Digest: module.Digest, Size: module.Size, Annotations: module.annotations()}},
		Annotations: a.annotations(),
	})
	return manifest, config, err
}
