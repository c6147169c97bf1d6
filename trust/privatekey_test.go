package trust

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

func TestPrivateKeysOfCosign(t *testing.T) {
	for _, name := range []string{"p256", "ed25519"} {
		k, err := ReadPrivateKey(cosignFile(t, name+".key"), []byte("pw"))
		if err != nil || !bytes.Equal(k.Public().PEM(), cosignFile(t, name+".pub")) {
			t.Errorf("%s: got %v, %v", name, k, err)
		}
		for _, wrong := range []string{"", "PW"} {
			_, err := ReadPrivateKey(cosignFile(t, name+".key"), []byte(wrong))
			wantCode(t, err, fault.InvalidInput, "bad_passphrase")
		}
		older := strings.ReplaceAll(string(cosignFile(t, name+".key")), "SIGSTORE", "COSIGN")
		if _, err := ReadPrivateKey([]byte(older), []byte("pw")); err != nil {
			t.Errorf("%s, as cosign 1 wrote it: %v", name, err)
		}
	}
}

func TestEncryptedKeyComesBack(t *testing.T) {
	for _, algorithm := range []string{"", ECDSA, Ed25519} {
		k := newKey(t, algorithm)
		for _, passphrase := range []string{"a passphrase", ""} {
			text, err := k.Encrypt([]byte(passphrase))
			if err != nil || !bytes.HasPrefix(text, []byte("-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\n")) {
				t.Fatalf("%q: %v, %s", algorithm, err, text)
			}
			again, err := ReadPrivateKey(text, []byte(passphrase))
			if err != nil || again.Public().ID() != k.Public().ID() {
				t.Errorf("%q: got %v, %v", algorithm, again, err)
			}
		}
	}
	_, err := GenerateKey("rsa")
	wantCode(t, err, fault.InvalidInput, "bad_key")
}

func privatePEM(t *testing.T, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: plainKeyType, Bytes: der})
}

func TestPlainPrivateKeyWantsNoPassphrase(t *testing.T) {
	k := newKey(t, ECDSA)
	text := privatePEM(t, k.signer)
	if got, err := ReadPrivateKey(text, nil); err != nil || got.Public().ID() != k.Public().ID() {
		t.Errorf("got %v, %v", got, err)
	}
	_, err := ReadPrivateKey(text, []byte("pw"))
	wantCode(t, err, fault.InvalidInput, "bad_passphrase")
}

func TestPrivateKeysThatAreRefused(t *testing.T) {
	large, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string][]byte{
		"P-384":        privatePEM(t, large),
		"a public key": cosignFile(t, "p256.pub"),
		"no key":       pem.EncodeToMemory(&pem.Block{Type: plainKeyType, Bytes: []byte("x")}),
		"nothing":      nil,
	}
	for name, text := range bad {
		if _, err := ReadPrivateKey(text, nil); err == nil {
			t.Errorf("%s: accepted", name)
		} else {
			wantCode(t, err, fault.InvalidInput, "bad_key")
		}
	}
}

// A key file from elsewhere says how much memory its passphrase costs.
func TestCostlyKeyIsRefused(t *testing.T) {
	block, _ := pem.Decode(cosignFile(t, "p256.key"))
	costly := bytes.Replace(block.Bytes, []byte(`"N":65536`), []byte(`"N":1073741824`), 1)
	if bytes.Equal(costly, block.Bytes) {
		t.Fatalf("nothing changed in %s", block.Bytes)
	}
	_, err := ReadPrivateKey(pem.EncodeToMemory(&pem.Block{Type: encryptedKeyType, Bytes: costly}), []byte("pw"))
	wantCode(t, err, fault.InvalidInput, "bad_passphrase")
}

func TestPrivateKeyIsNotPrinted(t *testing.T) {
	k := newKey(t, Ed25519)
	want := "private key of " + k.Public().ID()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		if got := fmt.Sprintf(verb, k); got != want {
			t.Errorf("%s printed %s", verb, got)
		}
	}
}

func TestZeroPrivateKey(t *testing.T) {
	var k PrivateKey
	if _, err := Sign(k, digestA); err == nil {
		t.Error("the zero key signed")
	}
	if _, err := k.Encrypt(nil); err == nil {
		t.Error("the zero key was encrypted")
	}
	if k.Public().verifies([]byte("x"), []byte("y")) {
		t.Error("the zero key verified")
	}
}
