package trust

import (
	"errors"
	"fmt"
	"slices"
)

// Subject is a bundle of which somebody asks who signed it.
type Subject struct {
	Digest       string
	CapabilityID string
	Reference    string // normalised, "" for what came from no registry
}

// Verify returns the publisher of the first signature that counts: it is over the digest,
// by a publisher's key, and the publisher may sign this capability from this place. nil
// means nobody's; reasons then say why for each, in words that are safe to show. To ask
// whether one certain publisher signed, give that one alone.
func Verify(s Subject, signatures [][]byte, publishers []Publisher) (by *Publisher, reasons []string) {
	if len(signatures) == 0 {
		return nil, []string{"it carries no signature"}
	}
	for i, signature := range signatures {
		if i == MaxSignatures {
			return nil, append(reasons, fmt.Sprintf("no more than the first %d signatures count", MaxSignatures))
		}
		p, err := verify(s, signature, publishers)
		if err == nil {
			return &p, reasons
		}
		reasons = append(reasons, fmt.Sprintf("signature %d of %d: %v", i+1, len(signatures), err))
	}
	return nil, reasons
}

func verify(s Subject, signature []byte, publishers []Publisher) (Publisher, error) {
	sig, err := parse(signature)
	if err != nil {
		return Publisher{}, err
	}
	if err := sig.over(s.Digest); err != nil {
		return Publisher{}, err
	}
	at := slices.IndexFunc(publishers, func(p Publisher) bool { return p.KeyID == sig.keyID })
	if at < 0 {
		return Publisher{}, fmt.Errorf("its key %s is nobody's in the trust store", sig.keyID)
	}
	p := publishers[at]
	key, err := p.key()
	if err != nil {
		return Publisher{}, fmt.Errorf("the key of %s: %w", p.Name, err)
	}
	if !key.verifies(sig.signed, sig.sig) {
		return Publisher{}, fmt.Errorf("it was not made with the key of %s", p.Name)
	}
	return p, p.maySign(s)
}

// maySign holds a bundle against what the person let the publisher sign.
func (p Publisher) maySign(s Subject) error {
	if !matches(p.Capabilities, s.CapabilityID) {
		return fmt.Errorf("%s may not sign %.100q", p.Name, s.CapabilityID)
	}
	if len(p.References) == 0 || matches(p.References, place(s.Reference)) {
		return nil
	}
	if s.Reference == "" {
		return fmt.Errorf("%s may only sign what comes from a registry", p.Name)
	}
	return fmt.Errorf("%s may not sign what comes from %.200q", p.Name, place(s.Reference))
}

// key is the publisher's key if it is the one that their key id names.
func (p Publisher) key() (PublicKey, error) {
	k, err := ReadPublicKey([]byte(p.PublicKey))
	if err == nil && k.ID() != p.KeyID {
		err = errors.New("its id is another one")
	}
	return k, err
}
