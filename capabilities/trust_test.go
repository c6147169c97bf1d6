package capabilities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
)

// keyID is the id of a key that exists only by its name.
func keyID(name string) string { return "sha256:" + fmt.Sprintf("%064x", name) }

// signedBy is a signature as trusts understands it.
func signedBy(name, digest string) []byte { return []byte(name + " " + digest) }

// trusts makes the person trust the keys of publishers, by name, and nobody else's.
func (w *world) trusts(names ...string) {
	w.lifecycle.config.Signer = func(i Installed, wantedKey string) (by *Signer, reasons []string, err error) {
		for _, s := range i.Signatures {
			name, digest, _ := strings.Cut(string(s), " ")
			switch {
			case digest != i.Digest || !slices.Contains(names, name):
				reasons = append(reasons, name+" is nobody's key")
			case by == nil || keyID(name) == wantedKey:
				by = &Signer{Name: name, KeyID: keyID(name)}
			}
		}
		return by, reasons, nil
	}
}

// placeSigned places a bundle as pulled, with a signature by each of the names.
func (w *world) placeSigned(b *Bundle, names ...string) Installed {
	w.Helper()
	var signatures [][]byte
	for _, name := range names {
		signatures = append(signatures, signedBy(name, b.Digest))
	}
	i, err := w.store.PlacePulled(w.Context(), pulled(w, b.Artifact(), b.raw), signatures)
	if err != nil {
		w.Fatal(err)
	}
	return i
}

// payload is that of the last event of a type.
func (w *world) payload(eventType string) map[string]any {
	w.Helper()
	all, err := w.events.List(w.Context(), event.Query{})
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range slices.Backward(all) {
		if e.Type == eventType {
			var p map[string]any
			if err := json.Unmarshal(e.Payload, &p); err != nil {
				w.Fatal(err)
			}
			return p
		}
	}
	w.Fatalf("there is no event %s", eventType)
	return nil
}

func (w *world) call() error {
	_, err := w.lifecycle.Tool(w.Context(), "acme-csv.summarize")
	return err
}

func TestVerifiedPublisher(t *testing.T) {
	w := newWorld(t)
	w.placeSigned(openSample(t), "stranger", "acme")
	w.trusts("acme")
	var shown Disclosure
	s, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", func(d Disclosure) (bool, error) { shown = d; return true, nil })
	if err != nil || s.TrustLevel != VerifiedPublisher || s.Signer == nil || s.Signer.Name != "acme" {
		t.Fatalf("status is %+v, %v", s, err)
	}
	if shown.TrustLevel != VerifiedPublisher || !strings.Contains(shown.Signer, "acme") || !strings.Contains(shown.Signer, keyID("acme")) {
		t.Errorf("shown was the signer %q, the level %s", shown.Signer, shown.TrustLevel)
	}
	p := w.payload(event.CapabilityEnabled)
	signer, _ := p["signer"].(map[string]any)
	if p["manifest_hash"] == "" || p["trust_level"] != "verified_publisher" || signer["key_id"] != keyID("acme") || p["reference"] != "localhost:5000/acme/csv:latest" {
		t.Errorf("the event says %v", p)
	}
	if s := w.status("acme-csv"); s.TrustLevel != VerifiedPublisher || s.Signer == nil {
		t.Errorf("status is %+v", s)
	}
	if err := w.call(); err != nil {
		t.Error(err)
	}
}

// TestSignerChanged: the consent was to these bytes as somebody's, and that no longer
// holds. G15: nor does a signature over another digest make it hold.
func TestSignerChanged(t *testing.T) {
	other := keyID("acme")
	for name, change := range map[string]func(w *world, i Installed){
		"key removed":       func(w *world, _ Installed) { w.trusts() },
		"another key alone": func(w *world, _ Installed) { w.trusts("stranger") },
		"signature gone":    func(w *world, i Installed) { i.Signatures = nil; w.rewrite(i) },
		"over another digest": func(w *world, i Installed) {
			i.Signatures = [][]byte{signedBy("acme", other)}
			w.rewrite(i)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			i := w.placeSigned(openSample(t), "stranger", "acme")
			w.trusts("acme")
			w.enable("")
			change(w, i)
			before := len(w.types())
			for range 2 {
				wantFault(t, w.call(), fault.Integrity, "signer_changed", keyID("acme"))
			}
			if types := w.types()[before:]; len(types) != 1 || types[0] != event.CapabilityFailed {
				t.Errorf("events are %v", types)
			}
			if s := w.status("acme-csv"); s.State != Failed || s.TrustLevel != UserInstalled || s.Signer != nil || !s.Enabled {
				t.Errorf("status is %+v", s)
			}
			var shown *Disclosure
			if _, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", func(d Disclosure) (bool, error) { shown = &d; return false, nil }); !fault.Is(err, fault.Cancelled) {
				t.Errorf("asked and declined: %v", err)
			}
			if shown == nil || shown.Changes == nil || !shown.Changes.Same {
				t.Errorf("shown was %+v", shown)
			}
			wantFault(t, w.call(), fault.Integrity, "signer_changed", "")
			w.enable("")
			if err := w.call(); err != nil {
				t.Errorf("consented to as it is now: %v", err)
			}
		})
	}
}

// rewrite replaces the record of an installed bundle as it is given.
func (w *world) rewrite(i Installed) {
	w.Helper()
	staged, err := w.store.stage()
	if err != nil {
		w.Fatal(err)
	}
	if err := w.store.writeRecord(staged, i); err != nil {
		w.Fatal(err)
	}
}

// TestSignerOfSeveral: a second trusted signature in front changes nothing.
func TestSignerOfSeveral(t *testing.T) {
	w := newWorld(t)
	b := openSample(t)
	w.placeSigned(b, "acme")
	w.trusts("acme", "auditor")
	w.enable("")
	if _, err := w.store.AddSignatures(t.Context(), "acme-csv", "", [][]byte{signedBy("auditor", b.Digest)}); err != nil {
		t.Fatal(err)
	}
	if err := w.call(); err != nil {
		t.Error(err)
	}
	if s := w.status("acme-csv"); s.Signer == nil || s.Signer.Name != "acme" {
		t.Errorf("status is %+v", s)
	}
}

// TestTrustStoreBroken: what cannot be judged does not run, where there is something to
// judge.
func TestTrustStoreBroken(t *testing.T) {
	w := newWorld(t)
	w.placeSigned(openSample(t), "acme")
	w.enable("")
	broken := fault.New(fault.Integrity, "bad_trust", "the trust store is damaged")
	w.lifecycle.config.Signer = func(Installed, string) (*Signer, []string, error) { return nil, nil, broken }
	if err := w.call(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	unsigned := newWorld(t)
	unsigned.placeSigned(openSample(t))
	unsigned.enable("")
	unsigned.lifecycle.config.Signer = w.lifecycle.config.Signer
	if err := unsigned.call(); err != nil {
		t.Errorf("without any signature: %v", err)
	}
}

func TestSignatureRequired(t *testing.T) {
	for _, c := range []struct {
		name, pattern, trusted string
		refused                bool
	}{
		{"by a trusted key", "**", "acme", false},
		{"by nobody trusted", "**", "other", true},
		{"of this registry", "localhost:5000/**", "other", true},
		{"of this repository", "localhost:5000/acme/csv", "other", true},
		{"of one of these", "{localhost:5000/acme,x.example}/*", "other", true},
		{"of another repository", "localhost:5000/acme/csv2", "other", false},
		{"of another registry", "localhost/**", "other", false},
		{"a tag is no part of it", "localhost:5000/acme/csv:latest", "other", false},
	} {
		for owner, set := range map[string]func(*world){
			"your own configuration": func(w *world) { w.lifecycle.config.Policy.RequireSignature = []string{c.pattern} },
			"capabilities.yaml": func(w *world) {
				w.settings("schema_version: 1\npolicy: {require_signature: ['" + c.pattern + "']}\n")
			},
		} {
			t.Run(c.name+" "+owner, func(t *testing.T) {
				w := newWorld(t)
				w.placeSigned(openSample(t), "acme")
				w.trusts(c.trusted)
				w.enable("") // and then somebody requires it
				set(w)
				err := w.call()
				if !c.refused {
					if err != nil {
						t.Error(err)
					}
					return
				}
				wantFault(t, err, fault.PermissionDenied, "signature_required", "acme is nobody's key")
				if !strings.Contains(err.Error(), owner) {
					t.Errorf("the error does not say who requires it: %v", err)
				}
				if err := w.lifecycle.Disable(t.Context(), "acme-csv", ""); err != nil {
					t.Fatal(err)
				}
				_, err = w.lifecycle.Enable(t.Context(), "acme-csv", "", yes)
				wantFault(t, err, fault.PermissionDenied, "signature_required", "acme is nobody's key")
			})
		}
	}
}

// TestSignatureRequiredWithoutReference: ** means what came from a folder, too.
func TestSignatureRequiredWithoutReference(t *testing.T) {
	for pattern, refused := range map[string]bool{"**": true, "localhost:5000/**": false} {
		p := Policy{RequireSignature: []string{pattern}}
		if _, required := p.requiresSignature(Found{}); required != refused {
			t.Errorf("%s: required is %v", pattern, required)
		}
	}
	w := newWorld(t)
	w.localBundle()
	w.lifecycle.config.Policy.RequireSignature = []string{"**"}
	_, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", yes)
	wantFault(t, err, fault.PermissionDenied, "signature_required", "part of the project")
}

// TestBothCeilings: the person's counts besides the project's, whichever is lower.
func TestBothCeilings(t *testing.T) {
	w := newWorld(t)
	place(t, w.store, openSample(t))
	w.enable("")
	w.settings("schema_version: 1\npolicy: {ceiling: {read_project: true}}\n")
	if err := w.call(); err != nil {
		t.Fatal(err)
	}
	w.lifecycle.config.Policy.Ceiling = &PermissionDeclaration{WriteProject: true}
	wantFault(t, w.call(), fault.PermissionDenied, "ceiling", "your own configuration")
}

var required = Verdict{DependencyID: "git", Detector: "binary:git>=2.30", Required: true, State: Missing, Detail: "not found"}

// finds makes the machine have what the verdicts say.
func (w *world) finds(verdicts ...Verdict) {
	w.lifecycle.config.Dependencies = func(context.Context, []Dependency) []Verdict { return verdicts }
}

func TestDoctorChecked(t *testing.T) {
	w := newWorld(t)
	one, two := withVersion(t, "1.0.0"), withVersion(t, "2.0.0")
	place(t, w.store, one)
	w.finds(required)
	if _, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", func(Disclosure) (bool, error) { return false, nil }); !fault.Is(err, fault.Cancelled) {
		t.Fatal(err)
	}
	w.wantTypes(event.CapabilityDiscovered, event.CapabilityValidated, event.CapabilityDoctorChecked)
	if s := w.status("acme-csv"); s.State != DoctorChecked || s.Enabled {
		t.Errorf("status is %+v", s)
	}
	var shown Disclosure
	if _, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", func(d Disclosure) (bool, error) { shown = d; return true, nil }); err != nil {
		t.Fatal(err)
	}
	if len(shown.Verdicts) != 1 || shown.Verdicts[0].State != Missing {
		t.Errorf("shown was %+v", shown.Verdicts)
	}
	verdicts, _ := w.payload(event.CapabilityEnabled)["verdicts"].([]any)
	if len(verdicts) != 1 || verdicts[0].(map[string]any)["state"] != "missing" {
		t.Errorf("the event says %v", verdicts)
	}
	place(t, w.store, two)
	before := len(w.types())
	if _, err := w.lifecycle.Update(t.Context(), "acme-csv", two.Digest, yes); err != nil {
		t.Fatal(err)
	}
	if types := w.types()[before:]; !slices.Contains(types, event.CapabilityDoctorChecked) {
		t.Errorf("an update does not check again: %v", types)
	}
}

// TestDisallowedInstall: what cannot work, and would have to be installed as its
// manifest says, is refused before anybody is asked.
func TestDisallowedInstall(t *testing.T) {
	for name, change := range map[string]func(*Verdict){
		"present":                func(v *Verdict) { v.State = Present },
		"optional":               func(v *Verdict) { v.Required = false },
		"installed by allowance": func(v *Verdict) { v.Disallowed, v.Install = "", []string{"apt-get install git"} },
		"":                       func(*Verdict) {},
		"too old":                func(v *Verdict) { v.State = Incompatible },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			place(t, w.store, openSample(t))
			v := required
			v.Disallowed = "its commands are not those of a known installer"
			change(&v)
			w.finds(v)
			asked := false
			_, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", func(Disclosure) (bool, error) { asked = true; return true, nil })
			if name != "" && name != "too old" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantFault(t, err, fault.PermissionDenied, "disallowed_install", "known installer")
			if s := w.status("acme-csv"); asked || s.State != Failed || s.Enabled {
				t.Errorf("asked %v, status is %+v", asked, s)
			}
		})
	}
}

// TestConsentIsKept: failing again changes nothing of what a person once agreed to.
func TestConsentIsKept(t *testing.T) {
	w := newWorld(t)
	w.placeSigned(openSample(t), "acme")
	w.trusts("acme")
	w.enable("")
	if err := w.lifecycle.Disable(t.Context(), "acme-csv", "it did this"); err != nil {
		t.Fatal(err)
	}
	w.finds()
	if _, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", func(Disclosure) (bool, error) { return false, nil }); err == nil {
		t.Fatal("declined and enabled")
	}
	if s := w.status("acme-csv"); s.State != Disabled || s.Reason != "it did this" {
		t.Errorf("asking and declining changed it to %+v", s)
	}
	w.settings("schema_version: 1\ncapabilities: {acme-csv: {enabled: false}}\n")
	_, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", yes)
	wantFault(t, err, fault.PermissionDenied, "switched_off", "")
	rows, err := w.lifecycle.rows(t.Context(), `WHERE id = 'acme-csv'`)
	if err != nil || len(rows) != 1 || rows[0].At == "" || rows[0].Signer != keyID("acme") {
		t.Errorf("rows are %+v, %v", rows, err)
	}
}

// TestG23RemovedIsRemembered: an older version does not come in by removing the newer one
// first, which anybody may have asked a person to do.
func TestG23RemovedIsRemembered(t *testing.T) {
	w := newWorld(t)
	one, two := withVersion(t, "1.0.0"), withVersion(t, "2.0.0")
	place(t, w.store, two)
	w.enable("")
	if _, err := w.lifecycle.Remove(t.Context(), "acme-csv", ""); err != nil {
		t.Fatal(err)
	}
	w.placeSigned(one, "acme")
	w.trusts("acme")
	_, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", yes)
	wantFault(t, err, fault.PermissionDenied, "downgrade", "2.0.0")
	before := len(w.types())
	place(t, w.store, two)
	if s := w.enable(two.Digest); s.State != Active {
		t.Errorf("status is %+v", s)
	}
	if types := w.types()[before:]; !slices.Equal(types, []string{event.CapabilityDiscovered, event.CapabilityValidated, event.CapabilityEnabled, event.CapabilityRegistered, event.CapabilityActivated}) {
		t.Errorf("placed and enabled again: %v", types)
	}
}
