package capabilities

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/trust"
)

func TestSignaturesAreKept(t *testing.T) {
	s, b := OpenStore(t.TempDir()), openSample(t)
	first, second, third := []byte("first"), []byte("second"), []byte("third")
	i, err := s.PlacePulled(t.Context(), pulled(t, b.Artifact(), b.raw), [][]byte{first, second, first})
	if err != nil || !same(i.Signatures, first, second) {
		t.Fatalf("%q, %v", i.Signatures, err)
	}
	if i := place(t, s, b); !same(i.Signatures, first, second) {
		t.Errorf("installed from a folder again: %q", i.Signatures)
	}
	i, err = s.PlacePulled(t.Context(), pulled(t, b.Artifact(), b.raw), [][]byte{third, second})
	if err != nil || !same(i.Signatures, third, second, first) {
		t.Errorf("pulled again: %q, %v", i.Signatures, err)
	}
	if i, err = s.AddSignatures(t.Context(), "acme-csv", b.Digest[:20], [][]byte{first, []byte("fourth")}); err != nil || !same(i.Signatures, first, []byte("fourth"), third, second) {
		t.Errorf("added: %q, %v", i.Signatures, err)
	}
	got, err := s.Get("acme-csv", "")
	if err != nil || !same(got.Signatures, i.Signatures...) || !got.PlacedAt.Equal(i.PlacedAt) || got.Reference != i.Reference {
		t.Errorf("recorded is %+v, %v", got, err)
	}
	if entries, err := os.ReadDir(s.dir + "/" + stagingDir); err == nil {
		t.Errorf("staging is left with %v", entries)
	}
	_, err = s.AddSignatures(t.Context(), "other", "", nil)
	wantFault(t, err, fault.NotFound, "not_installed", "other")
}

func same(got [][]byte, want ...[]byte) bool {
	return bytes.Equal(bytes.Join(got, []byte{0}), bytes.Join(want, []byte{0}))
}

// TestSignaturesAreBounded: anybody can attach as many as they like to a digest.
func TestSignaturesAreBounded(t *testing.T) {
	var many [][]byte
	for n := range 40 {
		many = append(many, fmt.Append(nil, n))
	}
	large := bytes.Repeat([]byte("x"), maxSignatureBytes+1)
	got := joined([][]byte{large, {}, large[1:]}, many)
	if len(got) != 32 || len(got[0]) != maxSignatureBytes || string(got[1]) != "0" || string(got[31]) != "30" {
		t.Errorf("%d are kept, the last is %q", len(got), got[len(got)-1])
	}
	s := OpenStore(t.TempDir())
	place(t, s, openSample(t))
	var largest [][]byte
	for n := range maxSignatures {
		largest = append(largest, append(fmt.Append(nil, n), large[10:]...))
	}
	if _, err := s.AddSignatures(t.Context(), "acme-csv", "", largest); err != nil {
		t.Fatal(err)
	}
	if i, err := s.Get("acme-csv", ""); err != nil || len(i.Signatures) != maxSignatures || i.Version != "1.2.0" {
		t.Errorf("of the largest record is left %+v, %v", i, err)
	}
}

// TestSignaturesAreNotPrinted: they are of no use to a person and may be large.
func TestSignaturesAreNotPrinted(t *testing.T) {
	out, err := json.Marshal(Installed{Signatures: [][]byte{[]byte("secret")}})
	if err != nil || strings.Contains(strings.ToLower(string(out)), "signatures") {
		t.Errorf("%s, %v", out, err)
	}
}

// TestReferenceOfAnArchive: where an archive says it is from is a claim, which would
// choose the policy and the publishers that count. What was pulled from somewhere stays so.
func TestReferenceOfAnArchive(t *testing.T) {
	s, b := OpenStore(t.TempDir()), openSample(t)
	from := Source{Kind: "local_path", Path: "/x/archive.tar.zst"}
	p := pulled(t, b.Artifact(), b.raw)
	i, err := s.PlaceFrom(t.Context(), p, from, nil)
	if err != nil || i.Reference != "" || i.Source != from {
		t.Errorf("placed as %+v, %v", i, err)
	}
	if i, err = s.PlacePulled(t.Context(), p, nil); err != nil || i.Reference != p.Reference {
		t.Errorf("pulled: %+v, %v", i, err)
	}
	if i, err = s.PlaceFrom(t.Context(), p, from, nil); err != nil || i.Reference != p.Reference || i.Source != from {
		t.Errorf("loaded after it was pulled: %+v, %v", i, err)
	}
}

// TestOneSizeOfSignatures: what verifies is kept.
func TestOneSizeOfSignatures(t *testing.T) {
	if maxSignatureBytes != trust.MaxBytes || maxSignatures > trust.MaxSignatures {
		t.Errorf("%d signatures of %d bytes are kept, and %d of %d can count", maxSignatures, maxSignatureBytes, trust.MaxSignatures, trust.MaxBytes)
	}
}
