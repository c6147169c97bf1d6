package oci

// SignatureType is the type of a signature as a referrer: a Sigstore bundle, in the
// layout in which cosign v3 attaches it and looks for it.
const SignatureType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// Signature is the attachment of one Sigstore bundle, whose bytes this package moves
// and does not judge. cosign's also has the time of its making; without it, attaching
// the same signature twice is the same as once.
func Signature(bundle []byte) Attachment {
	return Attachment{
		ArtifactType: SignatureType,
		MediaType:    SignatureType,
		Content:      bundle,
		Annotations: map[string]string{
			"dev.sigstore.bundle.content":       "dsse-envelope",
			"dev.sigstore.bundle.predicateType": "https://sigstore.dev/cosign/sign/v1",
		},
	}
}
