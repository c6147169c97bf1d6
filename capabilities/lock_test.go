package capabilities

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
)

func (w *world) lockFile() string { return w.lifecycle.config.Project.Shared(LockFile) }

// pins writes the lock of what is enabled, changed by change where that is not nil.
func (w *world) pins(change func(*Locked)) Lock {
	w.Helper()
	lock, err := w.lifecycle.Lock(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	if change != nil {
		entry := lock.Capabilities["acme-csv"]
		change(&entry)
		lock.Capabilities["acme-csv"] = entry
	}
	if err := lock.Write(w.lockFile()); err != nil {
		w.Fatal(err)
	}
	return lock
}

// enabledSample is a world in which the sample bundle is enabled.
func enabledSample(t testing.TB) *world {
	t.Helper()
	w := newWorld(t)
	place(t, w.store, openSample(t))
	w.enable("")
	return w
}

func TestLock(t *testing.T) {
	w := newWorld(t)
	b := openSample(t)
	w.placeSigned(b, "acme")
	w.trusts("acme")
	w.enable("")
	w.pins(nil)
	text, err := os.ReadFile(w.lockFile())
	if err != nil {
		t.Fatal(err)
	}
	// By hand from the contract: keys in the order of RFC 8785, no time, two blanks.
	want := `{
  "capabilities": {
    "acme-csv": {
      "digest": "` + b.Digest + `",
      "manifest_hash": "` + b.ManifestHash + `",
      "module_sha256": "` + b.ModuleSHA256 + `",
      "permissions": {
        "notes": [
          "reads what you name"
        ],
        "read_project": true,
        "scopes": {
          "read": [
            "data/**"
          ]
        }
      },
      "reference": "localhost:5000/acme/csv:latest",
      "signer": "` + keyID("acme") + `",
      "source": {
        "kind": "registry",
        "package": "acme/csv",
        "registry_id": "localhost:5000",
        "version": "latest"
      },
      "version": "1.2.0"
    }
  },
  "schema_version": 1
}
`
	if string(text) != want {
		t.Errorf("the lock is\n%s, want\n%s", text, want)
	}
	if err := CheckLockText("lock", text); err != nil {
		t.Error(err)
	}
	read, content, err := readLock(w.lockFile())
	if err != nil || content == nil || len(read.Capabilities) != 1 {
		t.Fatalf("read again: %+v, %v", read, err)
	}
	again, err := read.text()
	if err != nil || !bytes.Equal(again, text) {
		t.Errorf("written again it is\n%s (%v)", again, err)
	}
	if drift, err := w.lifecycle.CheckLock(t.Context()); err != nil || len(drift) > 0 {
		t.Errorf("drift is %v, %v", drift, err)
	}
	if err := w.call(); err != nil {
		t.Error(err)
	}
}

// TestLockForbids: whether or not anybody accepted it, what a lock does not pin is not
// used. Enabling is a person's own business, and pinning the next step.
func TestLockForbids(t *testing.T) {
	w := newWorld(t)
	one, two := withVersion(t, "1.0.0"), withVersion(t, "2.0.0")
	place(t, w.store, one)
	w.enable("")
	w.pins(nil)
	place(t, w.store, two)
	s := w.enable(two.Digest)
	if s.State != Failed || !s.Enabled || !strings.Contains(s.Reason, "pins "+one.Digest) {
		t.Errorf("status is %+v", s)
	}
	before := len(w.types())
	for range 2 {
		err := w.call()
		wantFault(t, err, fault.PermissionDenied, "locked", two.Digest)
		if hint := fault.From(err).Hint; !strings.Contains(hint, "air lock") {
			t.Errorf("the hint is %q", hint)
		}
	}
	if len(w.types()) != before {
		t.Errorf("told again: %v", w.types()[before:])
	}
	if s := w.status("acme-csv"); s.State != Failed || s.TrustLevel != UserInstalled {
		t.Errorf("status is %+v", s)
	}
	if err := os.Remove(w.lockFile()); err != nil {
		t.Fatal(err)
	}
	if err := w.call(); err != nil {
		t.Errorf("without a lock: %v", err)
	}
	if err := (Lock{SchemaVersion: 1, Capabilities: map[string]Locked{}}).Write(w.lockFile()); err != nil {
		t.Fatal(err)
	}
	wantFault(t, w.call(), fault.PermissionDenied, "not_locked", "acme-csv")
	w.pins(nil)
	if err := w.call(); err != nil {
		t.Errorf("pinned again: %v", err)
	}
	if last := w.types(); last[len(last)-1] != event.CapabilityActivated {
		t.Errorf("events are %v", last)
	}
}

// TestLockContradicts: a lock that says of a digest what is not so was changed by hand.
func TestLockContradicts(t *testing.T) {
	zeros := strings.Repeat("0", 64)
	for name, change := range map[string]func(*Locked){
		"version":       func(c *Locked) { c.Version = "1.2.1" },
		"manifest hash": func(c *Locked) { c.ManifestHash = "sha256:" + zeros },
		"module sha256": func(c *Locked) { c.ModuleSHA256 = zeros },
		"permissions":   func(c *Locked) { c.Permissions.Scopes.Read = nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := enabledSample(t)
			w.pins(change)
			wantFault(t, w.call(), fault.Integrity, "lock_contradicts", name)
			drift, err := w.lifecycle.CheckLock(t.Context())
			if err != nil || len(drift) != 1 || !strings.Contains(drift[0].What, name) {
				t.Errorf("drift is %v, %v", drift, err)
			}
		})
	}
	w := enabledSample(t)
	w.pins(func(c *Locked) { c.Signer = keyID("acme") }) // shown and checked, and not enforced
	if err := w.call(); err != nil {
		t.Error(err)
	}
}

func TestCheckLock(t *testing.T) {
	pinnedOther := func(c *Locked) { c.Digest = "sha256:" + strings.Repeat("0", 64) }
	for _, c := range []struct {
		name   string
		change func(*world)
		want   []string
	}{
		{"nothing", func(*world) {}, nil},
		{"not enabled", func(w *world) { _ = w.lifecycle.Disable(w.Context(), "acme-csv", "") }, []string{"pinned and not enabled"}},
		{"signer", func(w *world) { w.trusts() }, []string{"no key that you trust"}},
		{"another signer", func(w *world) { w.trusts("stranger") }, []string{"here it is " + keyID("stranger")}},
		{"another digest", func(w *world) { w.pins(pinnedOther) }, []string{"enabled as sha256:", "is not installed: sha256:0000"}},
		{"damaged", func(w *world) {
			addFiles(w.TB, w.store.path("acme-csv", openSample(w.TB).Digest), map[string]string{"HELP.md": "x"})
		}, []string{"HELP.md"}},
		{"gone", func(w *world) {
			_, _ = w.lifecycle.Remove(w.Context(), "acme-csv", "")
		}, []string{"pinned and not enabled", "is not installed"}},
		{"more", func(w *world) {
			addFiles(w.TB, w.dir, map[string]string{"project/.air/shared/" + LockFile: `{"schema_version":1,"capabilities":{}}`})
		}, []string{"enabled and not pinned"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.placeSigned(openSample(t), "stranger", "acme")
			w.trusts("acme")
			w.enable("")
			w.pins(nil)
			c.change(w)
			drift, err := w.lifecycle.CheckLock(t.Context())
			if err != nil || len(drift) != len(c.want) {
				t.Fatalf("drift is %v, %v, want %q", drift, err, c.want)
			}
			for n, d := range drift {
				if d.ID != "acme-csv" || !strings.Contains(d.What, c.want[n]) {
					t.Errorf("drift is %+v, want %q", d, c.want[n])
				}
			}
		})
	}
	_, err := newWorld(t).lifecycle.CheckLock(t.Context())
	wantFault(t, err, fault.NotFound, "no_lock", LockFile)
}

func TestLockRefusals(t *testing.T) {
	w := enabledSample(t)
	good := w.pins(nil)
	text, err := good.text()
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(from, to string) string { return strings.Replace(string(text), from, to, 1) }
	digest := good.Capabilities["acme-csv"].Digest
	for _, c := range []struct{ name, text, message string }{
		{"unknown key", replaced(`"digest"`, `"digets"`), `unknown key "digets", did you mean "digest"`},
		{"unknown version", replaced(`"schema_version": 1`, `"schema_version": 2`), "this air knows 1"},
		{"no capabilities", `{"schema_version":1}`, "/capabilities"},
		{"id", replaced(`"acme-csv": {`, `"Acme": {`), "no capability name"},
		{"digest", replaced(digest, "sha256:12"), "/capabilities/acme-csv/digest"},
		{"signer", replaced(`"signer": ""`, `"signer": "acme"`), "/capabilities/acme-csv/signer"},
		{"source", replaced(`"local_path"`, `"built_in"`), "/capabilities/acme-csv/source/kind"},
		{"version of a capability", replaced(`"1.2.0"`, `"1 2"`), "/capabilities/acme-csv/version"},
		{"permissions", replaced("data/**", "../x"), "/capabilities/acme-csv/permissions/scopes/read"},
		{"a key twice", `{"schema_version":1,"schema_version":1,"capabilities":{}}`, "schema_version"},
		{"large number", `{"schema_version":1e999999,"capabilities":{}}`, ""},
		{"too large", `{"schema_version":1,"capabilities":{}}` + strings.Repeat(" ", MaxLock), "limit"},
		{"no JSON", "schema_version: 1\n", ""},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(w.lockFile(), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			wantFault(t, w.call(), fault.InvalidInput, "bad_lock", c.message)
			if c.name != "too large" {
				wantFault(t, CheckLockText("x.json", []byte(c.text)), fault.InvalidInput, "bad_lock", c.message)
			}
		})
	}
	if err := os.Remove(w.lockFile()); err != nil {
		t.Fatal(err)
	}
	symlink(t, filepath.Join(t.TempDir(), "x"), w.lockFile())
	wantFault(t, w.call(), fault.InvalidInput, "bad_lock", "symbolic link")
}

// TestLockSchemaAgrees: what the code takes, the published schema takes, and the other
// way round.
func TestLockSchemaAgrees(t *testing.T) {
	w := enabledSample(t)
	lock := w.pins(nil)
	text, err := lock.text()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"version", "source", "digest", "manifest_hash", "module_sha256", "permissions", "signer"} {
		var tree any
		if err := json.Unmarshal(text, &tree); err != nil {
			t.Fatal(err)
		}
		without, err := json.Marshal(put(tree, []string{"capabilities", "acme-csv", key}, nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckLockText("x", without); err == nil {
			t.Errorf("a lock without %s is accepted", key)
		}
	}
}

// TestProposed: accepted files propose, and only a person enables.
func TestProposed(t *testing.T) {
	w := newWorld(t)
	one, two := withVersion(t, "1.0.0"), withVersion(t, "2.0.0")
	place(t, w.store, one)
	w.enable("")
	w.pins(nil)
	place(t, w.store, two)
	yaml := func(more string) {
		w.settings("schema_version: 1\ncapabilities: {other: {enabled: true}, third: {digest: \"" + two.Digest + "\"}" + more + "}\n")
	}
	proposed := func(accepted bool) []Proposal {
		w.reopen(accepted)
		w.lifecycle.config.AcceptedLock = func([]byte) bool { return accepted }
		all, err := w.lifecycle.Proposed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	yaml("")
	if all := proposed(false); len(all) > 0 {
		t.Errorf("files that nobody accepted propose %+v", all)
	}
	want := []Proposal{{ID: "other", From: "capabilities.yaml"}}
	if all := proposed(true); !slices.Equal(all, want) {
		t.Errorf("proposed are %+v, want %+v", all, want)
	}
	w.enable(two.Digest) // and so it drifts from the lock
	want = append([]Proposal{{ID: "acme-csv", Digest: one.Digest, Installed: true, From: LockFile}}, want...)
	if all := proposed(true); !slices.Equal(all, want) {
		t.Errorf("proposed are %+v, want %+v", all, want)
	}
	if c, err := w.lifecycle.Find("acme-csv", ""); err != nil || c.Digest != one.Digest {
		t.Errorf("without a digest the pinned one is meant, got %v", err)
	}
	yaml(", acme-csv: {enabled: false}")
	if all := proposed(true); !slices.Equal(all, want[1:]) {
		t.Errorf("what is switched off is proposed: %+v", all)
	}
	_, ok, err := w.lifecycle.SharedLock()
	if err != nil || !ok {
		t.Errorf("an accepted lock: %v, %v", ok, err)
	}
	w.lifecycle.config.AcceptedLock = nil
	_, ok, err = w.lifecycle.SharedLock()
	if wantFault(t, err, fault.ApprovalRequired, "lock_not_accepted", LockFile); !ok {
		t.Error("it is there")
	}
}

// TestLockTooLarge: what nobody could accept is not written, and the error names what takes
// the room.
func TestLockTooLarge(t *testing.T) {
	lock := enabledSample(t).pins(nil)
	large := lock.Capabilities["acme-csv"]
	for n := range 256 {
		large.Permissions.Scopes.Read = append(large.Permissions.Scopes.Read, fmt.Sprintf("%03d/%0250d/**", n, n))
	}
	lock.Capabilities["other"] = large
	err := lock.Write(filepath.Join(t.TempDir(), LockFile))
	wantFault(t, err, fault.ResourceExhausted, "lock_size", "the limit is 65536; the largest of its 2 entries is other with")
}
