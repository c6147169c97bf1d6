package trust

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"

	"github.com/aircoding/air/internal/fault"
)

// Algorithms of GenerateKey.
const (
	ECDSA   = "ecdsa-p256"
	Ed25519 = "ed25519"
)

const (
	encryptedKeyType = "ENCRYPTED SIGSTORE PRIVATE KEY" // as cosign writes it
	olderKeyType     = "ENCRYPTED COSIGN PRIVATE KEY"
	plainKeyType     = "PRIVATE KEY" // PKCS #8
)

var privateKeyTypes = []string{encryptedKeyType, olderKeyType, plainKeyType}

// PrivateKey signs. The zero value signs nothing. Printing one shows its public id only.
type PrivateKey struct{ signer crypto.Signer }

// GenerateKey makes a key: "" and ECDSA mean ECDSA on P-256, the other one is Ed25519.
func GenerateKey(algorithm string) (PrivateKey, error) {
	switch algorithm {
	case "", ECDSA:
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		return PrivateKey{key}, err
	case Ed25519:
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return PrivateKey{key}, err
	}
	return PrivateKey{}, badKey("key algorithm %.40q: wanted is %s or %s", algorithm, ECDSA, Ed25519)
}

// ReadPrivateKey reads what Encrypt or cosign wrote. An unencrypted PKCS #8 key is read
// with an empty passphrase only. Codes: bad_key, bad_passphrase.
func ReadPrivateKey(text, passphrase []byte) (PrivateKey, error) {
	block, err := onlyBlock(text, privateKeyTypes...)
	if err != nil {
		return PrivateKey{}, badKey("private key: %w", err)
	}
	content, plain := block.Bytes, block.Type == plainKeyType
	switch {
	case plain && len(passphrase) > 0:
		return PrivateKey{}, fault.New(fault.InvalidInput, "bad_passphrase", "private key: it is not encrypted, and a passphrase was given")
	case !plain:
		if content, err = encrypted.Decrypt(content, passphrase); err != nil {
			return PrivateKey{}, fault.New(fault.InvalidInput, "bad_passphrase", "private key: it does not open with this passphrase, or is damaged")
		}
	}
	key, err := x509.ParsePKCS8PrivateKey(content)
	if err != nil {
		return PrivateKey{}, badKey("private key: it cannot be parsed") // the cause could quote it
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return PrivateKey{}, badKey("private key: it cannot sign")
	}
	if _, err := newPublicKey(signer.Public()); err != nil {
		return PrivateKey{}, badKey("private key: %w", err)
	}
	return PrivateKey{signer}, nil
}

// IsEncrypted reports whether a key takes a passphrase.
func IsEncrypted(text []byte) bool {
	block, err := onlyBlock(text, privateKeyTypes...)
	return err == nil && block.Type != plainKeyType
}

// Public is the zero value for the zero key.
func (k PrivateKey) Public() PublicKey {
	if k.signer == nil {
		return PublicKey{}
	}
	public, _ := newPublicKey(k.signer.Public()) // it was accepted when the key was made or read
	return public
}

// Encrypt returns the key as cosign keeps it: a PEM block of PKCS #8, encrypted with
// scrypt and NaCl's secretbox. As with cosign the passphrase may be empty.
func (k PrivateKey) Encrypt(passphrase []byte) ([]byte, error) {
	if k.signer == nil {
		return nil, badKey("there is no private key")
	}
	der, err := x509.MarshalPKCS8PrivateKey(k.signer)
	if err != nil {
		return nil, err
	}
	content, err := encrypted.Encrypt(der, passphrase)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: encryptedKeyType, Bytes: content}), nil
}

// Format keeps the secret out of logs, whatever the verb.
func (k PrivateKey) Format(s fmt.State, _ rune) {
	_, _ = fmt.Fprintf(s, "private key of %s", k.Public().ID())
}

func (k PrivateKey) sign(message []byte) ([]byte, error) {
	switch key := k.signer.(type) {
	case *ecdsa.PrivateKey:
		sum := sha256.Sum256(message)
		return ecdsa.SignASN1(rand.Reader, key, sum[:])
	case ed25519.PrivateKey:
		return ed25519.Sign(key, message), nil
	}
	return nil, badKey("there is no private key")
}
