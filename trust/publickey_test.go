package trust

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

// Expected are the digests that openssl pkey -pubin -outform DER | sha256sum prints.
func TestIDOfAKey(t *testing.T) {
	for file, want := range map[string]string{
		"p256.pub":    "sha256:6479ba4389301fd02d6d53b040bc282996529f491703a72da7473feb53ec1745",
		"ed25519.pub": "sha256:b44bc4dc12788a8b172425021eed3c603868c3bfaa7e301a5969c66d51a6f402",
	} {
		text := cosignFile(t, file)
		k, err := ReadPublicKey(text)
		if err != nil || k.ID() != want || !bytes.Equal(k.PEM(), text) {
			t.Errorf("%s: got %s, %v, want %s", file, k.ID(), err, want)
		}
	}
}

func publicPEM(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: publicKeyType, Bytes: der}))
}

func TestKeysThatAreRefused(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{"RSA": publicPEM(t, &weak.PublicKey)}
	for name, curve := range map[string]elliptic.Curve{"P-224": elliptic.P224(), "P-384": elliptic.P384(), "P-521": elliptic.P521()} {
		k, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		cases[name] = publicPEM(t, &k.PublicKey)
	}
	good := string(cosignFile(t, "p256.pub"))
	block, _ := pem.Decode([]byte(good))
	der := append([]byte{}, block.Bytes...)
	der[len(der)-1] ^= 1
	cases["off the curve"] = string(pem.EncodeToMemory(&pem.Block{Type: publicKeyType, Bytes: der}))
	long := append([]byte{0x30, 0x81, der[1]}, block.Bytes[2:]...) // the length in two bytes
	cases["a second encoding"] = string(pem.EncodeToMemory(&pem.Block{Type: publicKeyType, Bytes: long}))
	cases["trailing bytes"] = string(pem.EncodeToMemory(&pem.Block{Type: publicKeyType, Bytes: append(block.Bytes, 0)}))
	cases["two keys"] = good + good
	cases["text in front"] = "mine:\n" + good
	cases["headers"] = string(pem.EncodeToMemory(&pem.Block{Type: publicKeyType, Headers: map[string]string{"a": "b"}, Bytes: block.Bytes}))
	cases["a private key"] = string(cosignFile(t, "p256.key"))
	cases["nothing"] = ""
	cases["large"] = good + strings.Repeat("\n", maxKeyBytes)
	for name, text := range cases {
		if _, err := ReadPublicKey([]byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		} else {
			wantCode(t, err, fault.InvalidInput, "bad_key")
		}
	}
}

// For a key of small order anybody signs: with the neutral point as key and as R, and 0 as
// S, the equation of RFC 8032 holds for every message.
func TestKeysOfSmallOrder(t *testing.T) {
	neutral := make([]byte, 32)
	neutral[0] = 1
	forged := append(append([]byte{}, neutral...), make([]byte, 32)...)
	for _, key := range []string{smallOrder[1], smallOrder[6]} { // 1, and p+1
		k, err := hex.DecodeString(key)
		if err != nil || !ed25519.Verify(k, []byte("any message"), forged) {
			t.Error("the forgery that this guards against does not work")
		}
	}
	for _, y := range smallOrder {
		k, err := hex.DecodeString(y)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // both signs of x
			if _, err := ReadPublicKey([]byte(publicPEM(t, ed25519.PublicKey(k)))); err == nil || !strings.Contains(err.Error(), "small order") {
				t.Errorf("%x: %v", k, err)
			}
			k[31] ^= 0x80
		}
	}
}

// Of a key that is no point of the curve nothing is a signature: here y = 2, for which
// (y²-1)/(dy²+1) of RFC 8032 is no square.
func TestNoPointOfEd25519(t *testing.T) {
	k := make(ed25519.PublicKey, 32)
	k[0] = 2
	forged := make([]byte, 64)
	forged[0] = 1
	if (PublicKey{key: k}).verifies([]byte("any message"), forged) {
		t.Error("it verified")
	}
}
