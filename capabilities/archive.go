package capabilities

import "github.com/aircoding/air/oci"

// Kept is the bundle, with where it is from and what was signed, in the form in which
// archives take it.
func (b *Bundle) Kept(i Installed) oci.Kept {
	return oci.Kept{
		Reference:  i.Reference,
		Manifest:   b.raw,
		Config:     b.Manifest.Canonical(),
		Layers:     b.layers,
		Signatures: i.Signatures,
	}
}
