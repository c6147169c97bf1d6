package trust

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/internal/plainjson"
)

// MediaType is that of a signature: a Sigstore bundle around a DSSE envelope around an
// in-toto statement, as cosign attaches one to what it signs.
const MediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"

const (
	payloadType   = "application/vnd.in-toto+json"
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://sigstore.dev/cosign/sign/v1" // its subject was signed
)

var digestForm = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

// Sign returns a signature over a bundle's digest, "sha256:" and 64 hex digits.
func Sign(k PrivateKey, digest string) ([]byte, error) {
	if !digestForm.MatchString(digest) {
		return nil, badDigest(digest)
	}
	payload := fmt.Sprintf(`{"_type":%q,"subject":[{"digest":{"sha256":%q},"annotations":{}}],"predicateType":%q,"predicate":{}}`,
		statementType, strings.TrimPrefix(digest, "sha256:"), predicateType)
	sig, err := k.sign(preAuth(payloadType, []byte(payload)))
	if err != nil {
		return nil, err
	}
	return plainjson.Marshal(map[string]any{
		"mediaType":            MediaType,
		"verificationMaterial": map[string]any{"publicKey": map[string]any{"hint": hintOf(k.Public())}},
		"dsseEnvelope": map[string]any{
			"payload":     []byte(payload),
			"payloadType": payloadType,
			"signatures":  []any{map[string]any{"sig": sig}},
		},
	})
}

// preAuth is what a signature is over: DSSE's pre-authentication encoding, in which the
// lengths keep the type and the payload apart.
func preAuth(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// hintOf names a key within a signature, as cosign does it: the base64 of its id.
func hintOf(k PublicKey) string {
	id, _ := hex.DecodeString(strings.TrimPrefix(k.ID(), "sha256:")) // it is hex
	return base64.StdEncoding.EncodeToString(id)
}

func badDigest(digest string) error {
	return fault.New(fault.InvalidInput, "bad_digest", "%.100q is no digest: sha256: and 64 hex digits are wanted", digest)
}
