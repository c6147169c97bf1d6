package trust

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzVerify holds that nothing makes Verify or CheckShape panic, that what the one takes
// the other has taken, and that reasons are short and safe to show. Nobody can sign here:
// what counts is one of the seeds, with other spaces or what does not count changed.
func FuzzVerify(f *testing.F) {
	k, err := ReadPublicKey(cosignFile(f, "p256.pub"))
	if err != nil {
		f.Fatal(err)
	}
	trusted := []Publisher{publisher("acme", k)}
	for _, seed := range []string{"p256.json", "ed25519.json"} {
		f.Add(cosignFile(f, seed))
	}
	f.Add([]byte(`{"mediaType":null,"verificationMaterial":null,"dsseEnvelope":null}`))
	f.Add([]byte(`{"mediaType":"` + MediaType + `","verificationMaterial":{},"dsseEnvelope":{"payload":"","payloadType":"","signatures":[null]}}`))
	f.Fuzz(func(t *testing.T, signature []byte) {
		shape := CheckShape(signature, signedByCosign)
		by, reasons := Verify(Subject{Digest: signedByCosign, CapabilityID: "hello"}, [][]byte{signature}, trusted)
		if by != nil && (shape != nil || by.Name != "acme") {
			t.Errorf("%q: verified as %v, but %v", signature, by, shape)
		}
		for _, r := range reasons {
			for _, c := range r {
				if !unicode.IsPrint(c) || c == utf8.RuneError {
					t.Errorf("reason %q", r)
				}
			}
			if len(r) > 700 {
				t.Errorf("long reason %q", r)
			}
		}
	})
}

// FuzzReadPublisher holds that what is read is written and read as the same.
func FuzzReadPublisher(f *testing.F) {
	k, err := ReadPublicKey(cosignFile(f, "p256.pub"))
	if err != nil {
		f.Fatal(err)
	}
	seed, err := publisher("acme", k).marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, content []byte) {
		p, err := readPublisher(content)
		if err != nil {
			return
		}
		text, err := p.marshal()
		if err != nil {
			t.Fatal(err)
		}
		again, err := readPublisher(text)
		if err != nil || again.Name != p.Name || again.KeyID != p.KeyID || !again.AddedAt.Equal(p.AddedAt) || len(again.Capabilities) != len(p.Capabilities) {
			t.Errorf("%+v became %+v, %v", p, again, err)
		}
	})
}
