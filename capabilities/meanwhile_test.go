package capabilities

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
)

// another is the lifecycle of another process at the same time, which does something in the
// middle: while it reads the settings, and while it looks at the machine.
func (w *world) another(reading, looking func()) *Lifecycle {
	w.Helper()
	once := func(do *func()) {
		if now := *do; now != nil {
			*do = nil
			now()
		}
	}
	l, err := New(LifecycleConfig{
		Store: w.store, Project: home.Project{Root: filepath.Join(w.dir, "project"), ID: "p", Dir: filepath.Join(w.dir, "home")}, Events: w.events,
		Accepted:          func([]byte) bool { once(&reading); return false },
		Dependencies:      func(context.Context, []Dependency) []Verdict { once(&looking); return nil },
		NewImplementation: func(Module) runtime.Implementation { return fake{} },
	})
	if err != nil {
		w.Fatal(err)
	}
	return l
}

// TestDisabledWhileLoading: what AIR finds out about a capability is no consent to it. A load
// that was under way when a person disabled it, and ends well or badly, leaves it disabled.
func TestDisabledWhileLoading(t *testing.T) {
	off := "schema_version: 1\ncapabilities:\n  acme-csv: { enabled: false }\n"
	for name, settings := range map[string]string{"ends well": "schema_version: 1\n", "ends badly": off} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			place(t, w.store, openSample(t))
			w.enable("")
			w.settings(off)
			if _, err := w.lifecycle.Tools(t.Context()); err != nil { // and so it failed
				t.Fatal(err)
			}
			w.settings(settings)
			before := len(w.types())
			l := w.another(func() {
				if err := w.lifecycle.Disable(t.Context(), "acme-csv", ""); err != nil {
					t.Fatal(err)
				}
			}, nil)
			_, _ = l.Tool(t.Context(), "acme-csv.table.count") // whichever: it began before
			if r, has, err := w.lifecycle.enabled(t.Context(), "acme-csv"); has || err != nil {
				t.Errorf("it is enabled again: %+v, %v", r, err)
			}
			if types := w.types()[before:]; !slices.Equal(types, []string{event.CapabilityDisabled}) {
				t.Errorf("events are %v", types)
			}
		})
	}
}

// TestConsentMeanwhile: a consent of another process, while this one looks at the machine,
// stays, and with it the order of versions.
func TestConsentMeanwhile(t *testing.T) {
	no := func(Disclosure) (bool, error) { return false, nil }
	for _, c := range []struct {
		name, meanwhile string
		answer          func(Disclosure) (bool, error)
		kind            fault.Kind
		code            string
	}{
		{"the same, and no", "2.0.0", no, fault.Cancelled, "declined"},
		{"the same, and yes", "2.0.0", yes, "", ""}, // both wanted it, and it is so
		{"a higher one, and yes", "3.0.0", yes, fault.Conflict, "changed_meanwhile"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			all := map[string]*Bundle{}
			for _, version := range []string{"1.0.0", "2.0.0", "3.0.0"} {
				all[version] = withVersion(t, version)
				place(t, w.store, all[version])
			}
			w.enable(all["1.0.0"].Digest)
			l := w.another(nil, func() {
				if _, err := w.lifecycle.Update(t.Context(), "acme-csv", all[c.meanwhile].Digest, yes); err != nil {
					t.Fatal(err)
				}
			})
			_, err := l.Update(t.Context(), "acme-csv", all["2.0.0"].Digest, c.answer)
			if c.code != "" {
				wantFault(t, err, c.kind, c.code, "acme-csv")
			} else if err != nil {
				t.Error(err)
			}
			if r, has, err := w.lifecycle.enabled(t.Context(), "acme-csv"); !has || err != nil || r.Version != c.meanwhile || r.At == "" {
				t.Errorf("enabled is %+v, %v, %v", r, has, err)
			}
			_, err = w.lifecycle.Enable(t.Context(), "acme-csv", all["1.0.0"].Digest, nobodyAsks)
			wantFault(t, err, fault.PermissionDenied, "downgrade", "1.0.0")
		})
	}
}

// TestConsentWhileAsked: two that are answered yes at once are one consent and one refusal,
// also where nothing was consented to before.
func TestConsentWhileAsked(t *testing.T) {
	w := newWorld(t)
	one, two := withVersion(t, "1.0.0"), withVersion(t, "2.0.0")
	place(t, w.store, one)
	place(t, w.store, two)
	_, err := w.lifecycle.Enable(t.Context(), "acme-csv", one.Digest, func(Disclosure) (bool, error) {
		_, err := w.another(nil, nil).Enable(t.Context(), "acme-csv", two.Digest, yes)
		return true, err
	})
	wantFault(t, err, fault.Conflict, "changed_meanwhile", "acme-csv")
	w.runs(two)
}

// TestClockThatWasAhead: the order of consents is that in which they were given, whatever
// the clock said.
func TestClockThatWasAhead(t *testing.T) {
	w := newWorld(t)
	one, between, two := withVersion(t, "1.0.0"), withVersion(t, "1.5.0"), withVersion(t, "2.0.0")
	for _, b := range []*Bundle{one, between, two} {
		place(t, w.store, b)
	}
	w.enable(one.Digest)
	if _, err := w.events.DB().Exec(`UPDATE capability_consent SET consented_at = '2031-01-01T00:00:00.000000000Z' WHERE version = '1.0.0'`); err != nil {
		t.Fatal(err)
	}
	w.enable(two.Digest)
	if err := w.lifecycle.Disable(t.Context(), "acme-csv", ""); err != nil {
		t.Fatal(err)
	}
	_, err := w.lifecycle.Enable(t.Context(), "acme-csv", between.Digest, nobodyAsks)
	wantFault(t, err, fault.PermissionDenied, "downgrade", "2.0.0")
	rows, err := w.lifecycle.consents(t.Context(), "acme-csv")
	if err != nil || rows[0].Version != "2.0.0" || rows[0].At != "2031-01-01T00:00:00.000000001Z" {
		t.Errorf("consents are %+v, %v", rows, err)
	}
	if s, err := w.lifecycle.Rollback(t.Context(), "acme-csv", "", yes); err != nil || s.Version != "1.0.0" {
		t.Errorf("gone back to %+v, %v", s, err)
	}
	if at, err := time.Parse(timeForm, after(nil)); err != nil || time.Since(at) > time.Minute {
		t.Errorf("the first consent is at %v, %v", at, err)
	}
}
