// Package trust signs bundles and says whose signature one carries. It keeps the person's
// trust store. It moves nothing over a network and decides nothing about what may run.
package trust

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
)

const (
	publicKeyType = "PUBLIC KEY"
	maxKeyBytes   = 16 << 10
)

// PublicKey is a key of ECDSA on P-256 or of Ed25519. The zero value verifies nothing, nor
// does an Ed25519 key that is no point of its curve.
type PublicKey struct {
	der []byte // SPKI
	key crypto.PublicKey
}

// ReadPublicKey reads one PEM block of an SPKI key. RSA, other curves, keys for which
// anybody can sign and second encodings of the same key are refused: code bad_key.
func ReadPublicKey(text []byte) (PublicKey, error) {
	block, err := onlyBlock(text, publicKeyType)
	if err != nil {
		return PublicKey{}, badKey("public key: %w", err)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return PublicKey{}, badKey("public key: it cannot be parsed")
	}
	k, err := newPublicKey(key)
	if err != nil {
		return PublicKey{}, badKey("public key: %w", err)
	}
	if !bytes.Equal(k.der, block.Bytes) { // one key would have two names
		return PublicKey{}, badKey("public key: not in the one encoding that DER allows")
	}
	return k, nil
}

// ID is "sha256:" and the hex digest of the key's SPKI in DER, by which cosign names it too.
func (k PublicKey) ID() string { return canon.Digest(k.der) }

// PEM is what ReadPublicKey reads.
func (k PublicKey) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: publicKeyType, Bytes: k.der})
}

func newPublicKey(key crypto.PublicKey) (PublicKey, error) {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return PublicKey{}, errors.New("an ECDSA key has to be on the curve P-256")
		}
	case ed25519.PublicKey:
		if err := checkPoint(key); err != nil {
			return PublicKey{}, err
		}
	default:
		return PublicKey{}, errors.New("only keys of ECDSA on P-256 and of Ed25519 are known")
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	return PublicKey{der: der, key: key}, err
}

// verifies reports whether sig is a signature of message. For Ed25519 both the plain kind
// counts, which Sign makes and cosign verifies, and Ed25519ph, which cosign v3.1 signs.
func (k PublicKey) verifies(message, sig []byte) bool {
	switch key := k.key.(type) {
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(message)
		return ecdsa.VerifyASN1(key, sum[:], sig)
	case ed25519.PublicKey:
		sum := sha512.Sum512(message)
		return ed25519.Verify(key, message, sig) ||
			ed25519.VerifyWithOptions(key, sum[:], sig, &ed25519.Options{Hash: crypto.SHA512}) == nil
	}
	return false
}

// onlyBlock returns a text's PEM block, of one of the types. Nothing else may be in the text.
func onlyBlock(text []byte, types ...string) (*pem.Block, error) {
	if len(text) > maxKeyBytes {
		return nil, fmt.Errorf("%d bytes, the limit is %d", len(text), maxKeyBytes)
	}
	text = bytes.TrimSpace(text)
	block, rest := pem.Decode(text)
	switch {
	case block == nil || !bytes.HasPrefix(text, []byte("-----BEGIN ")):
		return nil, errors.New("a PEM block is wanted")
	case len(bytes.TrimSpace(rest)) > 0:
		return nil, errors.New("something stands behind its PEM block")
	case len(block.Headers) > 0:
		return nil, errors.New("its PEM block has headers")
	case !slices.Contains(types, block.Type):
		return nil, fmt.Errorf("its PEM block is a %.40q, wanted is %q", block.Type, types[0])
	}
	return block, nil
}

func badKey(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidInput, "bad_key", format, args...)
}
