package trust

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aircoding/air/internal/fault"
)

// Bounds of the signatures that a bundle carries.
const (
	MaxBytes      = 64 << 10 // of one; cosign's have 700 bytes, with a log entry 10,000
	MaxSignatures = 32       // beyond that they do not count
)

// CheckShape refuses what is no signature over digest. It needs no key and therefore says
// nothing of who signed. Kind integrity, code bad_signature.
func CheckShape(signature []byte, digest string) error {
	if !digestForm.MatchString(digest) {
		return badDigest(digest)
	}
	s, err := parse(signature)
	if err == nil {
		err = s.over(digest)
	}
	if err != nil {
		return fault.New(fault.Integrity, "bad_signature", "signature: %w", err)
	}
	return nil
}

// parsed is a signature whose form is right.
type parsed struct {
	keyID  string // says the signature, which proves nothing yet
	signed []byte // what sig is over
	sig    []byte
	digest string // the statement's subject
}

func (p parsed) over(digest string) error {
	if p.digest != digest {
		return fmt.Errorf("it is over another digest, %s", p.digest)
	}
	return nil
}

// parse reads a Sigstore bundle. Entries of a transparency log and timestamps may be in it
// and do not count: who is trusted is a key, for as long as it is in the trust store.
func parse(signature []byte) (parsed, error) {
	top, err := document(signature, "mediaType", "verificationMaterial", "dsseEnvelope")
	if err != nil {
		return parsed{}, err
	}
	if err := constant(top["mediaType"], MediaType); err != nil {
		return parsed{}, fmt.Errorf("media type: %w", err)
	}
	p, err := parseEnvelope(top["dsseEnvelope"])
	if err != nil {
		return parsed{}, err
	}
	p.keyID, err = parseMaterial(top["verificationMaterial"])
	return p, err
}

func parseMaterial(raw json.RawMessage) (keyID string, err error) {
	material, err := object(raw, []string{"publicKey"}, "tlogEntries", "timestampVerificationData")
	if err != nil {
		return "", fmt.Errorf("verification material: it must name a key: %w", err)
	}
	key, err := object(material["publicKey"], []string{"hint"})
	if err != nil {
		return "", fmt.Errorf("verification material: %w", err)
	}
	id, err := bytesOf(key["hint"])
	if err != nil || len(id) != 32 {
		return "", errors.New("verification material: its hint is no SHA-256 digest of a key in base64")
	}
	return "sha256:" + hex.EncodeToString(id), nil
}

func parseEnvelope(raw json.RawMessage) (parsed, error) {
	envelope, err := object(raw, []string{"payload", "payloadType", "signatures"})
	if err != nil {
		return parsed{}, fmt.Errorf("envelope: %w", err)
	}
	if err := constant(envelope["payloadType"], payloadType); err != nil {
		return parsed{}, fmt.Errorf("payload type: %w", err)
	}
	payload, err := bytesOf(envelope["payload"])
	if err != nil {
		return parsed{}, fmt.Errorf("payload: %w", err)
	}
	p := parsed{signed: preAuth(payloadType, payload)}
	if p.sig, err = onlySignature(envelope["signatures"]); err != nil {
		return parsed{}, err
	}
	p.digest, err = subject(payload)
	return p, err
}

func onlySignature(raw json.RawMessage) ([]byte, error) {
	one, err := only(raw)
	if err != nil {
		return nil, fmt.Errorf("signatures of the envelope: %w", err)
	}
	fields, err := object(one, []string{"sig"}, "keyid")
	if err != nil {
		return nil, fmt.Errorf("signatures of the envelope: %w", err)
	}
	sig, err := bytesOf(fields["sig"])
	if err != nil || len(sig) == 0 {
		return nil, errors.New("signatures of the envelope: the signature is not in base64")
	}
	return sig, nil
}

// bytesOf reads base64 in its one form. encoding/json would pass over line ends, and
// others read bits that do not count differently.
func bytesOf(raw json.RawMessage) ([]byte, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, errors.New("a string in base64 is wanted")
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(b) != text {
		return nil, errors.New("not in base64")
	}
	return b, nil
}
