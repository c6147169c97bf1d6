package interop

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	common "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/sign"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/signature"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/aircoding/air/trust"
)

const (
	digest      = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	otherDigest = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func TestSigstoreVerifiesWhatWeSign(t *testing.T) {
	for _, algorithm := range []string{trust.ECDSA, trust.Ed25519} {
		k := newKey(t, algorithm)
		s := signed(t, k, digest)
		if err := sigstoreVerifies(t, s, digest, publicKey(t, k.Public().PEM())); err != nil {
			t.Errorf("%s: %v", algorithm, err)
		}
		if sigstoreVerifies(t, s, otherDigest, publicKey(t, k.Public().PEM())) == nil {
			t.Errorf("%s: another digest counts", algorithm)
		}
		if sigstoreVerifies(t, s, digest, publicKey(t, newKey(t, algorithm).Public().PEM())) == nil {
			t.Errorf("%s: another key counts", algorithm)
		}
	}
}

func TestWeVerifyWhatSigstoreSigns(t *testing.T) {
	statement := `{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"x","digest":{"sha256":"` + digest[7:] + `"}}],"predicateType":"https://sigstore.dev/cosign/sign/v1","predicate":{}}`
	for _, algorithm := range []common.PublicKeyDetails{
		common.PublicKeyDetails_PKIX_ECDSA_P256_SHA_256, common.PublicKeyDetails_PKIX_ED25519, common.PublicKeyDetails_PKIX_ED25519_PH,
	} {
		keys, err := sign.NewEphemeralKeypair(&sign.EphemeralKeypairOptions{Algorithm: algorithm})
		if err != nil {
			t.Fatal(err)
		}
		text, err := keys.GetPublicKeyPem()
		if err != nil {
			t.Fatal(err)
		}
		b, err := sign.Bundle(&sign.DSSEData{Data: []byte(statement), PayloadType: "application/vnd.in-toto+json"}, keys, sign.BundleOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := protojson.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := weVerify(t, s, digest, []byte(text)); err != "" {
			t.Errorf("%v: %s", algorithm, err)
		}
	}
}

// What sigstore-go refuses, trust refuses, too: of a signature with bytes changed, cut or
// moved, as an attacker could, none counts with us alone.
func TestNothingCountsWithUsAlone(t *testing.T) {
	for _, algorithm := range []string{trust.ECDSA, trust.Ed25519} {
		k := newKey(t, algorithm)
		good := signed(t, k, digest)
		key := publicKey(t, k.Public().PEM())
		random := rand.New(rand.NewPCG(1, 2))
		accepted := 0
		for range 4_000 {
			s := mutate(random, good)
			if weVerify(t, s, digest, k.Public().PEM()) != "" {
				continue
			}
			accepted++
			if err := sigstoreVerifies(t, s, digest, key); err != nil {
				t.Fatalf("%s counts with us, and sigstore-go says %v", s, err)
			}
		}
		t.Logf("%s: %d of 4000 changes left a good signature", algorithm, accepted)
	}
}

// mutate changes some bytes. Half of the time it puts a blank somewhere, which may mean
// the same.
func mutate(random *rand.Rand, good []byte) []byte {
	s := bytes.Clone(good)
	at := random.IntN(len(s))
	switch random.IntN(4) {
	case 0:
		s[at] = byte(random.IntN(256))
	case 1:
		return append(s[:at], s[min(len(s), at+1+random.IntN(8)):]...)
	default:
		return bytes.Join([][]byte{s[:at], []byte(" "), good[at:]}, nil)
	}
	return s
}

func sigstoreVerifies(t *testing.T, s []byte, digest string, key crypto.PublicKey) error {
	t.Helper()
	var b bundle.Bundle
	if err := b.UnmarshalJSON(s); err != nil {
		return err
	}
	v, err := signature.LoadDefaultVerifier(key)
	if err != nil {
		t.Fatal(err)
	}
	trusted := root.NewTrustedPublicKeyMaterial(func(string) (root.TimeConstrainedVerifier, error) {
		return root.NewExpiringKey(v, time.Time{}, time.Time{}), nil
	})
	verifier, err := verify.NewVerifier(trusted, verify.WithNoObserverTimestamps())
	if err != nil {
		t.Fatal(err)
	}
	sum, err := hex.DecodeString(strings.TrimPrefix(digest, "sha256:"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = verifier.Verify(&b, verify.NewPolicy(verify.WithArtifactDigest("sha256", sum), verify.WithKey()))
	return err
}

// weVerify returns "" or why the signature does not count.
func weVerify(t *testing.T, s []byte, digest string, key []byte) string {
	t.Helper()
	k, err := trust.ReadPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	p := trust.Publisher{Name: "acme", KeyID: k.ID(), PublicKey: string(key), Capabilities: []string{"*"}}
	by, reasons := trust.Verify(trust.Subject{Digest: digest, CapabilityID: "hello"}, [][]byte{s}, []trust.Publisher{p})
	if by == nil {
		return strings.Join(reasons, "; ")
	}
	return ""
}

func newKey(t *testing.T, algorithm string) trust.PrivateKey {
	t.Helper()
	k, err := trust.GenerateKey(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func signed(t *testing.T, k trust.PrivateKey, digest string) []byte {
	t.Helper()
	s, err := trust.Sign(k, digest)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func publicKey(t *testing.T, text []byte) crypto.PublicKey {
	t.Helper()
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
