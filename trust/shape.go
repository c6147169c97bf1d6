package trust

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/internal/yamldoc"
)

// Bounds of the signatures that a bundle carries.
const (
	MaxBytes      = 32 << 10 // of one; cosign's have 700 bytes, with a log entry 10,000
	MaxSignatures = 64       // beyond that they do not count; a registry is asked for so many
)

// sigstore is a Sigstore bundle. Entries of a transparency log and timestamps may be in it
// and do not count: who is trusted is a key, for as long as it is in the trust store.
type sigstore struct {
	MediaType string   `json:"mediaType"`
	Material  material `json:"verificationMaterial"`
	Envelope  envelope `json:"dsseEnvelope"`
}

type material struct {
	PublicKey struct {
		Hint string `json:"hint"`
	} `json:"publicKey"`
	LogEntries json.RawMessage `json:"tlogEntries,omitempty"`
	Timestamps json.RawMessage `json:"timestampVerificationData,omitempty"`
}

type envelope struct {
	Payload     string      `json:"payload"`
	PayloadType string      `json:"payloadType"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	Sig   string `json:"sig"`
	KeyID string `json:"keyid,omitempty"`
}

// statement is what is signed: an in-toto statement.
type statement struct {
	Type    string `json:"_type"`
	Subject []struct {
		Name        string          `json:"name,omitempty"`
		Digest      sha256Digest    `json:"digest"`
		Annotations json.RawMessage `json:"annotations,omitempty"`
	} `json:"subject"`
	PredicateType string                     `json:"predicateType"`
	Predicate     map[string]json.RawMessage `json:"predicate"`
}

type sha256Digest struct {
	SHA256 string `json:"sha256"`
}

// CheckShape refuses what is no signature over digest. It needs no key and therefore says
// nothing of who signed. Kind integrity, code bad_signature; of a digest that is none,
// invalid_input bad_digest.
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

func parse(doc []byte) (parsed, error) {
	var s sigstore
	if err := document(doc, MaxBytes, &s); err != nil {
		return parsed{}, err
	}
	e := s.Envelope
	id, badHint := decoded(s.Material.PublicKey.Hint)
	payload, badPayload := decoded(e.Payload)
	switch {
	case s.MediaType != MediaType:
		return parsed{}, errors.New("media type: " + MediaType + " is wanted")
	case badHint != nil || len(id) != 32:
		return parsed{}, errors.New("its hint is no SHA-256 digest of a key in base64")
	case e.PayloadType != payloadType:
		return parsed{}, errors.New("payload type: " + payloadType + " is wanted")
	case badPayload != nil:
		return parsed{}, fmt.Errorf("payload: %w", badPayload)
	case len(e.Signatures) != 1:
		return parsed{}, errors.New("signatures of the envelope: exactly one is wanted")
	}
	sig, err := decoded(e.Signatures[0].Sig)
	if err != nil || len(sig) == 0 {
		return parsed{}, errors.New("the signature is not in base64")
	}
	digest, err := subject(payload)
	return parsed{"sha256:" + hex.EncodeToString(id), preAuth(payloadType, payload), sig, digest}, err
}

// subject returns the digest that a statement is about.
func subject(payload []byte) (string, error) {
	var s statement
	err := document(payload, MaxBytes, &s)
	switch {
	case err != nil:
		return "", fmt.Errorf("statement: %w", err)
	case s.Type != statementType:
		return "", errors.New("statement type: " + statementType + " is wanted")
	case s.PredicateType != predicateType:
		return "", errors.New("predicate type: " + predicateType + " is wanted")
	case len(s.Subject) != 1:
		return "", errors.New("subject: exactly one is wanted")
	}
	digest := "sha256:" + s.Subject[0].Digest.SHA256
	if !digestForm.MatchString(digest) {
		return "", errors.New("subject: its digest has not 64 hex digits")
	}
	return digest, nil
}

// document reads a whole document: within bounds, with all fields that it must have and no
// others, letter by letter.
func document(doc []byte, limit int64, into any) error {
	if err := canon.Check(doc, canon.Limits{Bytes: limit, Depth: 16, Values: 1024, Strict: true}); err != nil {
		return err
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return err
	}
	if wrong := yamldoc.Check(tree, reflect.TypeOf(into), true); len(wrong) > 0 {
		return fmt.Errorf("%s: %w", cmp.Or(text.Line(wrong[0].Pointer, 80), "document"), wrong[0])
	}
	return json.Unmarshal(doc, into)
}

// decoded reads base64 in its one form. encoding/json would pass over line ends, and
// others read bits that do not count differently.
func decoded(s string) ([]byte, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || base64.StdEncoding.EncodeToString(b) != s {
		return nil, errors.New("not in base64")
	}
	return b, nil
}
