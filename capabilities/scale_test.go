package capabilities

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/trust"
)

// crowd lays n further bundles into the store, as far as a list looks at them: all of one
// id, or each of its own.
func (w *world) crowd(n int, oneID bool) {
	w.Helper()
	for i := range n {
		id := "acme-csv"
		if !oneID {
			id = fmt.Sprintf("other-%d", i)
		}
		dir := filepath.Join(w.store.dir, id, fmt.Sprintf("%064x", i))
		record := fmt.Sprintf(`{"schema_version":1,"capability_id":%q,"version":"0.0.%d","source":{"kind":"local_path","path":"/x"},"placed_at":"2020-01-01T00:00:00Z","tools":["acme-csv.summarize","acme-csv.table.count"]}`, id, i)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			w.Fatal(err)
		}
		if err := os.WriteFile(dir+recordEnd, []byte(record), 0o600); err != nil {
			w.Fatal(err)
		}
	}
}

// TestLastPlacedIsFoundDirectly: what was placed last is known without reading the records
// of all others, and the shortcut is never what decides.
func TestLastPlacedIsFoundDirectly(t *testing.T) {
	w := newWorld(t)
	one, two := withVersion(t, "1.0.0"), withVersion(t, "2.0.0")
	place(t, w.store, one)
	i := place(t, w.store, two)
	last := filepath.Join(w.store.dir, "acme-csv", lastFile)
	wantLast := func(when, digest string) {
		t.Helper()
		if got, err := w.store.Get("acme-csv", ""); err != nil || got.Digest != digest {
			t.Errorf("%s: the last is %s, %v", when, got.Digest, err)
		}
	}
	text, err := os.ReadFile(last)
	if err != nil || strings.TrimSpace(string(text)) != filepath.Base(i.Dir) {
		t.Fatalf("the shortcut says %q, %v", text, err)
	}
	for _, wrong := range []string{"", "../x", strings.Repeat("0", 64), strings.Repeat("x", 1000)} {
		addFiles(t, w.store.dir, map[string]string{"acme-csv/" + lastFile: wrong})
		wantLast(fmt.Sprintf("%.10q", wrong), two.Digest)
	}
	if err := os.Remove(last); err != nil {
		t.Fatal(err)
	}
	wantLast("without a shortcut", two.Digest)
	place(t, w.store, two)
	if err := w.store.Remove(t.Context(), "acme-csv", two.Digest); err != nil {
		t.Fatal(err)
	}
	wantLast("after it was removed", one.Digest)
}

// BenchmarkInstalled is what it costs to find one bundle, to call it and to list all, with
// ten thousand others.
func BenchmarkInstalled(b *testing.B) {
	for name, oneID := range map[string]bool{"versions": true, "ids": false} {
		w := newWorld(b)
		w.crowd(10_000, oneID)
		sample := openSample(b)
		place(b, w.store, sample)
		for _, step := range []struct {
			name string
			do   func() error
		}{
			{"get", func() error { _, err := w.store.Get("acme-csv", ""); return err }},
			{"getexact", func() error { _, err := w.store.Get("acme-csv", sample.Digest); return err }},
			{"enable", func() error {
				if _, err := w.lifecycle.Enable(b.Context(), "acme-csv", "", yes); err != nil {
					return err
				}
				return w.lifecycle.Disable(b.Context(), "acme-csv", "")
			}},
			{"call", func() error {
				if _, ok, _ := w.lifecycle.enabled(b.Context(), "acme-csv"); !ok {
					w.enable("")
				}
				return w.call()
			}},
			{"place", func() error { place(b, w.store, sample); return nil }},
			{"list", func() error { _, err := w.store.List(); return err }},
			{"discover", func() error { _, err := w.lifecycle.Discover(b.Context()); return err }},
		} {
			b.Run(name+"/"+step.name, func(b *testing.B) {
				for b.Loop() {
					if err := step.do(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkLoad is what verifying at the start of a call costs besides hashing: alone, with
// a signature, and with all that a project can say.
func BenchmarkLoad(b *testing.B) {
	w := newWorld(b)
	key, err := trust.GenerateKey("ecdsa-p256")
	if err != nil {
		b.Fatal(err)
	}
	bundle := openSample(b)
	signature, err := trust.Sign(key, bundle.Digest)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := w.store.PlacePulled(b.Context(), pulled(b, bundle.Artifact(), bundle.raw), [][]byte{signature}); err != nil {
		b.Fatal(err)
	}
	load := func(b *testing.B) {
		for b.Loop() {
			if err := w.call(); err != nil {
				b.Fatal(err)
			}
		}
	}
	w.enable("")
	b.Run("plain", load)
	people := []trust.Publisher{{Name: "acme", KeyID: key.Public().ID(), PublicKey: string(key.Public().PEM()), Capabilities: []string{"acme-*"}}}
	w.lifecycle.config.Signer = func(i Installed, _ string) (*Signer, []string, error) {
		by, reasons := trust.Verify(trust.Subject{Digest: i.Digest, CapabilityID: i.CapabilityID}, i.Signatures, people)
		if by == nil {
			b.Fatal(reasons)
		}
		return &Signer{Name: by.Name, KeyID: by.KeyID}, nil, nil
	}
	b.Run("signed", func(b *testing.B) {
		for range 20 {
			if err := w.call(); err != nil { // what is read once
				b.Fatal(err)
			}
		}
		start, n := time.Now(), 0
		for b.Loop() {
			for range 100 {
				if err := w.call(); err != nil {
					b.Fatal(err)
				}
				n++
			}
		}
		fmt.Printf("ratio verify_at_load_ms %.3f\n", time.Since(start).Seconds()*1e3/float64(n))
	})
	w.pins(nil)
	w.settings(goodSettings)
	w.lifecycle.config.Policy.RequireSignature = []string{"**"}
	b.Run("everything", load)
}
