package trust

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/canon"
	"github.com/aircoding/air/internal/fault"
)

// The example of the DSSE specification, protocol.md.
func TestPreAuth(t *testing.T) {
	if got, want := string(preAuth("http://example.com/HelloWorld", []byte("hello world"))), "DSSEv1 29 http://example.com/HelloWorld 11 hello world"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What Sign makes is what cosign makes, but for the signature's own random bytes.
func TestSignIsLikeCosign(t *testing.T) {
	k, err := ReadPrivateKey(cosignFile(t, "p256.key"), []byte("pw"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := withoutSig(t, sign(t, k, signedByCosign)), withoutSig(t, cosignFile(t, "p256.json")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func withoutSig(t *testing.T, signature []byte) string {
	t.Helper()
	var e pieces
	if err := json.Unmarshal(signature, &e); err != nil {
		t.Fatal(err)
	}
	canonical, err := canon.JSON(signature) // the order of the keys says nothing
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(canonical), e.DSSEEnvelope.Signatures[0]["sig"], "")
}

func TestSignWantsADigest(t *testing.T) {
	k := newKey(t, "")
	for _, digest := range []string{"", "sha256:", strings.ToUpper(digestA), digestA + "\n", digestA[7:], "sha512:" + digestA[7:], digestA[:70]} {
		_, err := Sign(k, digest)
		wantCode(t, err, fault.InvalidInput, "bad_digest")
		wantCode(t, CheckShape(sign(t, k, digestA), digest), fault.InvalidInput, "bad_digest")
	}
}

func TestCheckShape(t *testing.T) {
	s := sign(t, newKey(t, ""), digestA)
	if err := CheckShape(s, digestA); err != nil {
		t.Error(err)
	}
	err := CheckShape(s, digestB)
	wantCode(t, err, fault.Integrity, "bad_signature")
	if !strings.Contains(err.Error(), "it is over another digest, "+digestA) {
		t.Error(err)
	}
}

// What cosign adds when it uses a transparency log and timestamps does not count.
func TestLogEntriesDoNotCount(t *testing.T) {
	e := open(t, newKey(t, ""))
	e.Material["tlogEntries"] = []any{map[string]any{"logIndex": "123"}}
	e.Material["timestampVerificationData"] = map[string]any{}
	if err := CheckShape(e.bytes(t), digestA); err != nil {
		t.Error(err)
	}
}

func TestShapesThatAreRefused(t *testing.T) {
	k := newKey(t, "")
	for name, c := range map[string]struct {
		change func(*pieces)
		want   string
	}{
		"media type":  {func(e *pieces) { e.MediaType = "application/vnd.dev.sigstore.bundle.v0.2+json" }, "media type"},
		"certificate": {func(e *pieces) { e.Material = map[string]any{"certificate": map[string]any{"rawBytes": "AA=="}} }, `/verificationMaterial/certificate: unknown key`},
		"both": {func(e *pieces) {
			e.Material["certificate"] = map[string]any{"rawBytes": "AA=="}
		}, `/verificationMaterial/certificate: unknown key`},
		"no hint":      {func(e *pieces) { e.Material["publicKey"] = map[string]any{} }, "/publicKey/hint: is missing"},
		"short hint":   {func(e *pieces) { e.Material["publicKey"] = map[string]any{"hint": "AAAA"} }, "its hint is no SHA-256"},
		"payload type": {func(e *pieces) { e.DSSEEnvelope.PayloadType = "text/plain" }, "payload type"},
		"no signature": {func(e *pieces) { e.DSSEEnvelope.Signatures = []map[string]string{} }, "exactly one"},
		"two signatures": {func(e *pieces) {
			e.DSSEEnvelope.Signatures = append(e.DSSEEnvelope.Signatures, e.DSSEEnvelope.Signatures[0])
		}, "exactly one"},
		"empty signature":      {func(e *pieces) { e.DSSEEnvelope.Signatures[0]["sig"] = "" }, "not in base64"},
		"signature in lines":   {func(e *pieces) { e.DSSEEnvelope.Signatures[0]["sig"] = "AAAA\nAAAA" }, "not in base64"},
		"signature, loose":     {func(e *pieces) { e.DSSEEnvelope.Signatures[0]["sig"] = "AB==" }, "not in base64"},
		"signature, unpadded":  {func(e *pieces) { e.DSSEEnvelope.Signatures[0]["sig"] = "AA" }, "not in base64"},
		"signature, for URLs":  {func(e *pieces) { e.DSSEEnvelope.Signatures[0]["sig"] = "-_-_" }, "not in base64"},
		"another field":        {func(e *pieces) { e.DSSEEnvelope.Signatures[0]["cert"] = "" }, `unknown key "cert"`},
		"terminal in a field":  {func(e *pieces) { e.DSSEEnvelope.Signatures[0]["\x1b[2J"] = "" }, `unknown key "\x1b[2J"`},
		"payload is no object": {func(e *pieces) { e.DSSEEnvelope.Payload = []byte("[]") }, "statement: document: got a list, want an object"},
	} {
		e := open(t, k)
		c.change(e)
		err := CheckShape(e.bytes(t), digestA)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// encoding/json takes a name in any case, and the last of those that are the same.
func TestFieldsInAnotherCase(t *testing.T) {
	good := string(sign(t, newKey(t, ""), digestA))
	for _, change := range [][2]string{
		{`"payload":`, `"Payload":`},
		{`"payload":`, `"payload":"","payload":`},
		{`"payload":`, `"Payload":"","payload":`},
		{`{"hint":`, `{"HINT":`},
		{`"mediaType":`, `"media_type":`},
	} {
		if text := strings.Replace(good, change[0], change[1], 1); text == good || CheckShape([]byte(text), digestA) == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

func TestStatementsThatAreRefused(t *testing.T) {
	k := newKey(t, "")
	a, b := digestA[7:], digestB[7:]
	good := `{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"","digest":{"sha256":"` + a + `"}}],"predicateType":"https://sigstore.dev/cosign/sign/v1","predicate":{"x":1}}`
	e := open(t, k)
	if e.resign(t, k, good); CheckShape(e.bytes(t), digestA) != nil {
		t.Fatal(CheckShape(e.bytes(t), digestA))
	}
	for _, c := range []struct{ old, new, want string }{
		{"Statement/v1", "Statement/v0.1", "statement type"},
		{"cosign/sign/v1", "cosign/attest/v1", "predicate type"},
		{"https://sigstore.dev/cosign/sign/v1", "https://slsa.dev/provenance/v1", "predicate type"},
		{`"predicateType"`, `"PredicateType":"","predicateType"`, "/PredicateType: unknown key"},
		{`,"predicate":{"x":1}`, ``, "/predicate: is missing"},
		{`{"x":1}`, `null`, "/predicate: got null, want an object"},
		{`[{"name"`, `[{"digest":{"sha256":"` + b + `"}},{"name"`, "exactly one"},
		{`"` + a + `"`, `"` + strings.ToUpper(a) + `"`, "64 hex digits"},
		{`"` + a + `"`, `"` + a[1:] + `"`, "64 hex digits"},
		{`"` + a + `"`, `["` + a + `"]`, "want a string"},
		{`{"sha256":`, `{"sha512":"","sha256":`, "/subject/0/digest/sha512: unknown key"},
		{`{"sha256":"` + a + `"}`, `{}`, "missing"},
		{`"subject":[{`, `"subject":{"0":{`, "statement: "},
		{good, good + good, "more than one JSON value"},
		{`{"x":1}`, `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "nesting"},
		{`{"x":1}`, `{"x":9007199254740993}`, "/predicate/x"}, // G21
		{`{"x":1}`, `{"x":"` + strings.Repeat("x", MaxBytes) + `"}`, "the limit is 32768"},
	} {
		e := open(t, k)
		text := strings.Replace(good, c.old, c.new, 1)
		e.resign(t, k, text)
		if err := CheckShape(e.bytes(t), digestA); text == good || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.new[:min(100, len(c.new))], err, c.want)
		}
	}
}

func TestHintIsCosigns(t *testing.T) { // the value in cosign's own signature
	k, err := ReadPublicKey(cosignFile(t, "p256.pub"))
	if got, want := hintOf(k), "ZHm6Q4kwH9AtbVOwQLwoKZZSn0kXA6ctp0c/61PsF0U="; err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
}
