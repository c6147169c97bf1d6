package trust

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
)

const (
	digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	digestB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

	signedByCosign   = "sha256:effa4bb33165c4646dec1e1990319cb60b64cf7361053573c7ce6e15a7fe2cff"
	signedByCosignEd = "sha256:212a6e761cab1e343b2491f976b207839feaba9a9cd867de3b0ee5c2b32f46d1"
)

func cosignFile(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "cosign", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func newKey(t testing.TB, algorithm string) PrivateKey {
	t.Helper()
	k, err := GenerateKey(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sign(t testing.TB, k PrivateKey, digest string) []byte {
	t.Helper()
	s, err := Sign(k, digest)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// publisher may sign everything from everywhere.
func publisher(name string, k PublicKey) Publisher {
	return Publisher{Name: name, KeyID: k.ID(), PublicKey: string(k.PEM()), Capabilities: []string{"*"}, AddedAt: time.Unix(1_700_000_000, 0).UTC()}
}

func subjectA() Subject {
	return Subject{Digest: digestA, CapabilityID: "hello", Reference: "registry.example/acme/hello:1"}
}

// pieces is a signature in pieces, for taking it apart and putting it together wrongly.
type pieces struct {
	MediaType    string         `json:"mediaType"`
	Material     map[string]any `json:"verificationMaterial"`
	DSSEEnvelope struct {
		Payload     []byte              `json:"payload"`
		PayloadType string              `json:"payloadType"`
		Signatures  []map[string]string `json:"signatures"`
	} `json:"dsseEnvelope"`
}

// open takes apart what k signs over digestA.
func open(t testing.TB, k PrivateKey) *pieces {
	t.Helper()
	var e pieces
	if err := json.Unmarshal(sign(t, k, digestA), &e); err != nil {
		t.Fatal(err)
	}
	return &e
}

// resign replaces the payload and signs it, as the key's owner could.
func (e *pieces) resign(t testing.TB, k PrivateKey, payload string) {
	t.Helper()
	e.DSSEEnvelope.Payload = []byte(payload)
	sig, err := k.sign(preAuth(e.DSSEEnvelope.PayloadType, e.DSSEEnvelope.Payload))
	if err != nil {
		t.Fatal(err)
	}
	e.DSSEEnvelope.Signatures[0]["sig"] = base64.StdEncoding.EncodeToString(sig)
}

func (e *pieces) bytes(t testing.TB) []byte {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantReason(t *testing.T, s Subject, signature []byte, publishers []Publisher, want string) {
	t.Helper()
	by, reasons := Verify(s, [][]byte{signature}, publishers)
	if by != nil || len(reasons) != 1 || !strings.Contains(reasons[0], want) {
		t.Errorf("got %v, %q, want %q", by, reasons, want)
	}
}

func wantCode(t *testing.T, err error, kind fault.Kind, code string) {
	t.Helper()
	if f := fault.From(err); err == nil || f.Kind != kind || f.Code != code {
		t.Errorf("got %v, want %s %s", err, kind, code)
	}
}
