// Package canon bounds JSON that comes from outside and brings it into canonical form.
package canon

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/gowebpki/jcs"
)

// JSON returns the RFC 8785 form of a document that Check has passed.
func JSON(doc []byte) ([]byte, error) { return jcs.Transform(doc) }

// Marshal encodes v in RFC 8785 form.
func Marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(b)
}

// Digest returns "sha256:" and the hex digest of data.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
