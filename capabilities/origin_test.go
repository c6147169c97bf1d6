package capabilities

import (
	"os"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
)

// placeFrom places a bundle as pulled from a repository of some registry.
func (w *world) placeFrom(b *Bundle, registry, repository string, names ...string) {
	w.Helper()
	p := pulled(w, b.Artifact(), b.raw)
	p.Registry, p.Repository, p.Reference = registry, repository, registry+"/"+repository+":1"
	var signatures [][]byte
	for _, name := range names {
		signatures = append(signatures, signedBy(name, b.Digest))
	}
	if _, err := w.store.PlacePulled(w.Context(), p, signatures); err != nil {
		w.Fatal(err)
	}
}

// TestPulledFromElsewhere: the same bytes from another registry change nothing of what was
// consented to, neither whose signature counts, nor where updates come from. To take the
// other place a person is asked, and shown it.
func TestPulledFromElsewhere(t *testing.T) {
	w := newWorld(t)
	b := openSample(t)
	w.placeFrom(b, "one.example", "me/csv", "acme")
	w.trusts("acme")
	anywhere := w.lifecycle.config.Signer
	w.lifecycle.config.Signer = func(i Installed, key string) (*Signer, []string, error) {
		if !strings.HasPrefix(i.Reference, "one.example/me/") {
			return nil, []string{"acme may not sign that"}, nil
		}
		return anywhere(i, key)
	}
	w.enable("")
	w.placeFrom(b, "two.example", "evil/csv")
	if err := w.call(); err != nil {
		t.Errorf("pulled from elsewhere: %v", err)
	}
	if s := w.status("acme-csv"); s.Source != "registry one.example/me/csv:latest" || s.TrustLevel != VerifiedPublisher {
		t.Errorf("status is %+v", s)
	}
	all, err := w.lifecycle.Current(t.Context())
	if err != nil || len(all) != 1 || all[0].Reference != "one.example/me/csv:1" || all[0].Source.RegistryID != "one.example" {
		t.Errorf("in use is %+v, %v", all, err)
	}
	if lock := w.pins(nil); lock.Capabilities["acme-csv"].Reference != "one.example/me/csv:1" || lock.Capabilities["acme-csv"].Signer != keyID("acme") {
		t.Errorf("the lock is %+v", lock)
	}
	no := &asked{}
	_, err = w.lifecycle.Enable(t.Context(), "acme-csv", "", no.confirm)
	wantFault(t, err, fault.Cancelled, "declined", "")
	if d := no.changes(t); !strings.Contains(strings.Join(d.Warnings, "\n"), "it comes from another place") {
		t.Errorf("the warnings are %q", d.Warnings)
	}
	two := withVersion(t, "2.0.0")
	w.placeFrom(two, "two.example", "evil/csv")
	no = &asked{}
	_, err = w.lifecycle.Update(t.Context(), "acme-csv", two.Digest, no.confirm)
	wantFault(t, err, fault.Cancelled, "declined", "")
	if d := no.changes(t); !strings.Contains(strings.Join(d.Warnings, "\n"), "before from registry one.example/me/csv") {
		t.Errorf("the warnings of an update are %q", d.Warnings)
	}
}

// TestRequiredByConsentedOrigin: what must be signed is what was enabled from there,
// wherever it was pulled from since.
func TestRequiredByConsentedOrigin(t *testing.T) {
	w := newWorld(t)
	b := openSample(t)
	w.placeFrom(b, "one.example", "me/csv")
	w.enable("")
	w.lifecycle.config.Policy.RequireSignature = []string{"one.example/**"}
	w.placeFrom(b, "two.example", "me/csv")
	wantFault(t, w.call(), fault.PermissionDenied, "signature_required", "no signature came with it")
}

// TestRecordDamaged: of a bundle whose record cannot be read nobody knows where it came from.
func TestRecordDamaged(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"cut off": func(file string) error { return os.Truncate(file, 10) },
		"gone":    os.Remove,
		"large":   func(file string) error { return os.Truncate(file, maxRecord+1) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			i := w.placeSigned(openSample(t), "acme")
			w.trusts("acme")
			if err := spoil(i.Dir + recordEnd); err != nil {
				t.Fatal(err)
			}
			w.lifecycle.config.Policy.RequireSignature = []string{"elsewhere.example/**"}
			_, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", yes)
			wantFault(t, err, fault.PermissionDenied, "signature_required", "cannot be read")
			w.lifecycle.config.Policy.RequireSignature = nil
			ask := &asked{answer: true}
			if _, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", ask.confirm); err != nil {
				t.Fatal(err)
			}
			if d := ask.shown[0]; !strings.Contains(d.Source, "NOT KNOWN") || !strings.Contains(d.Signer, "cannot be read") {
				t.Errorf("shown was %q, %q", d.Source, d.Signer)
			}
			w.placeSigned(openSample(t)) // recorded again, and the consent is what it was
			w.lifecycle.config.Policy.RequireSignature = []string{"elsewhere.example/**"}
			wantFault(t, w.call(), fault.PermissionDenied, "signature_required", "")
		})
	}
}

// TestEnabledAgainSigned: enabling what is enabled takes up a signature that counts by now,
// with a question, so that it is refused when the key is not trusted any more.
func TestEnabledAgainSigned(t *testing.T) {
	w := newWorld(t)
	w.placeSigned(openSample(t), "acme")
	w.trusts()
	ask := &asked{answer: true}
	if _, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", ask.confirm); err != nil {
		t.Fatal(err)
	}
	if d := ask.shown[0]; d.Signer != "none that counts: acme is nobody's key" {
		t.Errorf("the signer is shown as %q", d.Signer)
	}
	w.trusts("acme")
	if _, err := w.lifecycle.Update(t.Context(), "acme-csv", "", nobodyAsks); err != nil {
		t.Errorf("an update has nothing to do: %v", err)
	}
	ask = &asked{answer: true}
	if _, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", ask.confirm); err != nil {
		t.Fatal(err)
	}
	ask.changes(t)
	if _, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", nobodyAsks); err != nil {
		t.Error(err)
	}
	w.trusts()
	wantFault(t, w.call(), fault.Integrity, "signer_changed", keyID("acme"))
}

// TestSignerOfTheLock: who enables what the lock pins as signed is told when no key that
// they trust says so.
func TestSignerOfTheLock(t *testing.T) {
	w := newWorld(t)
	w.placeSigned(openSample(t), "auditor", "acme")
	w.trusts("acme")
	w.enable("")
	w.pins(nil)
	for trusted, told := range map[string]bool{"acme": false, "auditor acme": false, "auditor": true, "": true} {
		w.trusts(strings.Fields(trusted)...)
		if err := w.lifecycle.Disable(t.Context(), "acme-csv", ""); err != nil {
			t.Fatal(err)
		}
		ask := &asked{answer: true}
		if _, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", ask.confirm); err != nil {
			t.Fatal(err)
		}
		var shown strings.Builder
		if err := ask.shown[0].Write(&shown); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(shown.String(), "pins it as signed by "+keyID("acme")) != told {
			t.Errorf("trusted is %q, shown was\n%s", trusted, shown.String())
		}
	}
}

// TestListedSigners: whose signature a bundle carries is listed whatever its state.
func TestListedSigners(t *testing.T) {
	w := newWorld(t)
	w.placeSigned(openSample(t), "acme")
	w.trusts("acme")
	vouched := func(state State) {
		t.Helper()
		if s := w.status("acme-csv"); s.State != state || s.TrustLevel != VerifiedPublisher || s.Signer == nil || s.Signer.Name != "acme" {
			t.Errorf("status is %+v, want %s", s, state)
		}
	}
	vouched(Validated)
	w.enable("")
	w.settings("schema_version: 1\ncapabilities: {acme-csv: {enabled: false}}\n")
	vouched(Failed)
	if err := w.lifecycle.Disable(t.Context(), "acme-csv", ""); err != nil {
		t.Fatal(err)
	}
	vouched(Disabled)
}

// TestTrustInEvents: the events of one consent say the same of what vouches for it.
func TestTrustInEvents(t *testing.T) {
	w := newWorld(t)
	w.placeSigned(openSample(t), "acme")
	w.trusts("acme")
	w.enable("")
	for eventType, level := range map[string]any{event.CapabilityEnabled: "verified_publisher", event.CapabilityActivated: nil} {
		if p := w.payload(eventType); p["trust_level"] != level || p["place"] != "user_installed" {
			t.Errorf("%s says %v", eventType, p)
		}
	}
}

// TestUntrustedIsChanged: only bytes that are others make what lies there untrusted.
func TestUntrustedIsChanged(t *testing.T) {
	w := newWorld(t)
	w.placeSigned(openSample(t), "acme")
	w.trusts("acme")
	w.enable("")
	w.lifecycle.config.Signer = func(Installed, string) (*Signer, []string, error) {
		return nil, nil, fault.New(fault.Integrity, "bad_trust_store", "a publisher's file is damaged")
	}
	if s := w.status("acme-csv"); s.State != Failed || s.TrustLevel != UserInstalled {
		t.Errorf("status is %+v", s)
	}
}
