package trust

import (
	"crypto/elliptic"
	"encoding/asn1"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"
)

func TestVerify(t *testing.T) {
	for _, algorithm := range []string{ECDSA, Ed25519} {
		k := newKey(t, algorithm)
		other := publisher("other", newKey(t, algorithm).Public())
		by, reasons := Verify(subjectA(), [][]byte{sign(t, k, digestA)}, []Publisher{other, publisher("acme", k.Public())})
		if by == nil || by.Name != "acme" || by.KeyID != k.Public().ID() || len(reasons) != 0 {
			t.Errorf("%s: got %v, %q", algorithm, by, reasons)
		}
	}
}

// cosign signs with an Ed25519 key as Ed25519ph.
func TestVerifyWhatCosignSigned(t *testing.T) {
	for name, digest := range map[string]string{"p256": signedByCosign, "ed25519": signedByCosignEd} {
		k, err := ReadPublicKey(cosignFile(t, name+".pub"))
		if err != nil {
			t.Fatal(err)
		}
		s := Subject{Digest: digest, CapabilityID: "hello"}
		by, reasons := Verify(s, [][]byte{cosignFile(t, name+".json")}, []Publisher{publisher("acme", k)})
		if by == nil || by.Name != "acme" {
			t.Errorf("%s: %q", name, reasons)
		}
	}
}

func TestNoSignature(t *testing.T) {
	by, reasons := Verify(subjectA(), nil, []Publisher{publisher("acme", newKey(t, "").Public())})
	if by != nil || len(reasons) != 1 || reasons[0] != "it carries no signature" {
		t.Errorf("got %v, %q", by, reasons)
	}
}

// G15: a signature is for one digest, wherever else it is put.
func TestReplayedSignature(t *testing.T) {
	k := newKey(t, "")
	wantReason(t, subjectA(), sign(t, k, digestB), []Publisher{publisher("acme", k.Public())}, "signature 1 of 1: it is over another digest, "+digestB)
}

func TestTamperedPayload(t *testing.T) {
	k := newKey(t, "")
	trusted := []Publisher{publisher("acme", k.Public())}
	e := open(t, k)
	e.DSSEEnvelope.Payload = []byte(strings.ReplaceAll(string(e.DSSEEnvelope.Payload), digestA[7:], digestB[7:]))
	s := subjectA()
	s.Digest = digestB
	wantReason(t, s, e.bytes(t), trusted, "it was not made with the key of acme")
	e = open(t, k)
	e.DSSEEnvelope.Payload = append(e.DSSEEnvelope.Payload, ' ') // means the same
	wantReason(t, subjectA(), e.bytes(t), trusted, "it was not made with the key of acme")
}

func TestUnknownKey(t *testing.T) {
	k, known := newKey(t, ""), newKey(t, "")
	trusted := []Publisher{publisher("acme", known.Public())}
	wantReason(t, subjectA(), sign(t, k, digestA), trusted, "its key "+k.Public().ID()+" is nobody's in the trust store")
	wantReason(t, subjectA(), sign(t, k, digestA), nil, "is nobody's in the trust store")
	e := open(t, k) // says it is acme's
	e.Material["publicKey"] = map[string]any{"hint": hintOf(known.Public())}
	wantReason(t, subjectA(), e.bytes(t), trusted, "it was not made with the key of acme")
}

// The signature is over DSSE's encoding of type and payload, and not over the payload, nor
// over an encoding whose parts could be shifted.
func TestSignatureOverSomethingElse(t *testing.T) {
	for _, algorithm := range []string{ECDSA, Ed25519} {
		k := newKey(t, algorithm)
		e := open(t, k)
		payload := string(e.DSSEEnvelope.Payload)
		for _, message := range []string{
			payload,
			"DSSEv1 " + payloadType + " " + payload,
			fmt.Sprintf("DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload)+1, payload),
			fmt.Sprintf("DSSEv1 %d %s %d %s\n", len(payloadType), payloadType, len(payload), payload),
			string(preAuth("", []byte(payload))),
			string(preAuth(payloadType+" ", []byte(payload))),
		} {
			sig, err := k.sign([]byte(message))
			if err != nil {
				t.Fatal(err)
			}
			e.DSSEEnvelope.Signatures[0]["sig"] = base64.StdEncoding.EncodeToString(sig)
			wantReason(t, subjectA(), e.bytes(t), []Publisher{publisher("acme", k.Public())}, "it was not made with the key of acme")
		}
	}
}

// Of an ECDSA signature anybody can make a second one, with -s for s. It is by the same
// key over the same digest and so says nothing new. Other spellings are refused.
func TestMalleability(t *testing.T) {
	k := newKey(t, ECDSA)
	trusted := []Publisher{publisher("acme", k.Public())}
	e := open(t, k)
	sig, err := base64.StdEncoding.DecodeString(e.DSSEEnvelope.Signatures[0]["sig"])
	if err != nil {
		t.Fatal(err)
	}
	var rs struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(sig, &rs); err != nil {
		t.Fatal(err)
	}
	rs.S.Sub(elliptic.P256().Params().N, rs.S)
	second, err := asn1.Marshal(rs)
	if err != nil {
		t.Fatal(err)
	}
	e.DSSEEnvelope.Signatures[0]["sig"] = base64.StdEncoding.EncodeToString(second)
	if by, reasons := Verify(subjectA(), [][]byte{e.bytes(t)}, trusted); by == nil || by.Name != "acme" {
		t.Errorf("%q", reasons)
	}
	for name, bad := range map[string][]byte{
		"trailing byte": append(second[:len(second):len(second)], 0),
		"long length":   append([]byte{0x30, 0x81, second[1]}, second[2:]...),
		"half":          second[:len(second)/2],
	} {
		e.DSSEEnvelope.Signatures[0]["sig"] = base64.StdEncoding.EncodeToString(bad)
		if by, _ := Verify(subjectA(), [][]byte{e.bytes(t)}, trusted); by != nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Of an Ed25519 signature nobody can: S has to be below the order of the group.
func TestNoMalleabilityOfEd25519(t *testing.T) {
	k := newKey(t, Ed25519)
	e := open(t, k)
	sig, err := base64.StdEncoding.DecodeString(e.DSSEEnvelope.Signatures[0]["sig"])
	if err != nil {
		t.Fatal(err)
	}
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	s := new(big.Int).SetBytes(reversed(sig[32:]))
	more := reversed(s.Add(s, order).FillBytes(make([]byte, 32)))
	e.DSSEEnvelope.Signatures[0]["sig"] = base64.StdEncoding.EncodeToString(append(sig[:32:32], more...))
	wantReason(t, subjectA(), e.bytes(t), []Publisher{publisher("acme", k.Public())}, "it was not made with the key of acme")
}

func reversed(b []byte) []byte {
	r := make([]byte, len(b))
	for i := range b {
		r[len(b)-1-i] = b[i]
	}
	return r
}

// A publisher signs only what the person said: seed contracts, "bound to the capability
// ids and references it may sign".
func TestWhatAPublisherMaySign(t *testing.T) {
	k := newKey(t, "")
	signature := sign(t, k, digestA)
	for _, c := range []struct {
		capabilities, references []string
		id, reference            string
		want                     string // "" for verified
	}{
		{[]string{"hello"}, nil, "hello", "registry.example/acme/hello:1", ""},
		{[]string{"hello"}, nil, "hello", "", ""},
		{[]string{"hello"}, nil, "hello2", "registry.example/acme/hello:1", `acme may not sign "hello2"`},
		{[]string{"acme-*", "hello"}, nil, "acme-x", "", ""},
		{[]string{"acme-*"}, nil, "evil-acme-x", "", `acme may not sign "evil-acme-x"`},
		{nil, nil, "hello", "", `acme may not sign "hello"`},
		{[]string{"["}, nil, "hello", "", `acme may not sign "hello"`},
		{[]string{"*"}, nil, "", "", `acme may not sign ""`},
		{[]string{"*"}, []string{"registry.example/acme/*"}, "hello", "registry.example/acme/hello:1", ""},
		{[]string{"*"}, []string{"registry.example/acme/*"}, "hello", "registry.example/acme/hello@" + digestA, ""},
		{[]string{"*"}, []string{"registry.example/acme/*"}, "hello", "registry.example/acme/hello:1@" + digestA, ""},
		{[]string{"*"}, []string{"registry.example/acme/*"}, "hello", "registry.example/acme/hello", ""},
		{[]string{"*"}, []string{"registry.example/acme/*"}, "hello", "registry.example:5000/acme/hello:1", `acme may not sign what comes from "registry.example:5000/acme/hello"`},
		{[]string{"*"}, []string{"registry.example:5000/acme/*"}, "hello", "registry.example:5000/acme/hello", ""},
		{[]string{"*"}, []string{"registry.example/acme/*"}, "hello", "registry.example/acme/a/b:1", `acme may not sign what comes from "registry.example/acme/a/b"`},
		{[]string{"*"}, []string{"registry.example/**"}, "hello", "registry.example/acme/a/b:1", ""},
		{[]string{"*"}, []string{"registry.example/**"}, "hello", "evil.example/registry.example/a:1", "acme may not sign"},
		{[]string{"*"}, []string{"registry.example/**"}, "hello", "", "acme may only sign what comes from a registry"},
		{[]string{"*"}, []string{"*"}, "hello", "", "acme may only sign what comes from a registry"},
		{[]string{"*"}, []string{"registry.example/**", "**"}, "hello", "", ""},
		{[]string{"*"}, []string{"**"}, "hello", "other.example/x:1", ""},
	} {
		p := publisher("acme", k.Public())
		p.Capabilities, p.References = c.capabilities, c.references
		s := Subject{Digest: digestA, CapabilityID: c.id, Reference: c.reference}
		if c.want != "" {
			wantReason(t, s, signature, []Publisher{p}, c.want)
			continue
		}
		if by, reasons := Verify(s, [][]byte{signature}, []Publisher{p}); by == nil {
			t.Errorf("%+v: %q", c, reasons)
		}
	}
}

func TestPublisherWhoseKeyIDIsAnotherKeys(t *testing.T) {
	k := newKey(t, "")
	p := publisher("acme", newKey(t, "").Public())
	p.KeyID = k.Public().ID()
	wantReason(t, subjectA(), sign(t, k, digestA), []Publisher{p}, "the key of acme: its id is another one")
	p.PublicKey = ""
	wantReason(t, subjectA(), sign(t, k, digestA), []Publisher{p}, "the key of acme: public key: a PEM block is wanted")
}

func TestTheFirstSignatureThatCounts(t *testing.T) {
	one, two := newKey(t, ""), newKey(t, Ed25519)
	trusted := []Publisher{publisher("one", one.Public()), publisher("two", two.Public())}
	signatures := [][]byte{[]byte("{"), sign(t, two, digestB), sign(t, two, digestA), sign(t, one, digestA)}
	by, reasons := Verify(subjectA(), signatures, trusted)
	if by == nil || by.Name != "two" || len(reasons) != 2 || !strings.HasPrefix(reasons[1], "signature 2 of 4: it is over another digest") {
		t.Errorf("got %v, %q", by, reasons)
	}
	if by, _ := Verify(subjectA(), signatures, trusted[:1]); by == nil || by.Name != "one" {
		t.Errorf("of one alone: %v", by)
	}
}

// What strangers attach, up to as many as a registry is asked for, does not hide one that
// counts.
func TestBehindACrowd(t *testing.T) {
	k, stranger := newKey(t, ""), newKey(t, "")
	var signatures [][]byte
	for range 63 {
		signatures = append(signatures, sign(t, stranger, digestA))
	}
	signatures = append(signatures, sign(t, k, digestA))
	if by, _ := Verify(subjectA(), signatures, []Publisher{publisher("acme", k.Public())}); by == nil || by.Name != "acme" {
		t.Errorf("got %v", by)
	}
}

// A crowd of bad signatures neither takes long nor says much.
func TestBounds(t *testing.T) {
	k := newKey(t, "")
	trusted := []Publisher{publisher("acme", k.Public())}
	var signatures [][]byte
	for range MaxSignatures {
		signatures = append(signatures, []byte(`{"`+strings.Repeat("\x7f\u202e", MaxBytes/4)+`":1}`))
	}
	signatures = append(signatures, sign(t, k, digestA))
	by, reasons := Verify(subjectA(), signatures, trusted)
	if by != nil || len(reasons) != MaxSignatures+1 || reasons[MaxSignatures] != "no more than the first 64 signatures count" {
		t.Errorf("got %v, %.200q", by, reasons)
	}
	for _, r := range reasons {
		if len(r) > 400 || strings.ContainsAny(r, "\x7f\u202e\n") {
			t.Errorf("%.500q", r)
		}
	}
	large := append(sign(t, k, digestA), strings.Repeat(" ", MaxBytes)...)
	wantReason(t, subjectA(), large, trusted, "the limit is 32768")
}

// Verify runs at every load: under 1 ms.
func BenchmarkVerify(b *testing.B) {
	for _, algorithm := range []string{ECDSA, Ed25519} {
		k := newKey(b, algorithm)
		signatures, trusted := [][]byte{sign(b, k, digestA)}, []Publisher{publisher("acme", k.Public())}
		b.Run(algorithm, func(b *testing.B) {
			for b.Loop() {
				if by, reasons := Verify(subjectA(), signatures, trusted); by == nil {
					b.Fatal(reasons)
				}
			}
		})
	}
}
