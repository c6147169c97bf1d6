package capabilities

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
)

const goodSettings = `schema_version: 1
capabilities:
  acme-csv:
    config: {strict: true}
    limits: {memory_bytes: 1048576, timeout_ms: 600000}
`

func TestConfigCountsWhenAccepted(t *testing.T) {
	w := newWorld(t)
	w.settings(goodSettings)
	place(t, w.store, openSample(t))
	w.enable("")
	for _, c := range []struct {
		accepted bool
		config   string
		memory   int64
	}{
		{false, `{"separator":","}`, 32 << 20},
		{true, `{"separator":",","strict":true}`, 1 << 20},
	} {
		w.reopen(c.accepted)
		tool, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize")
		if err != nil {
			t.Fatal(err)
		}
		m := w.modules[len(w.modules)-1]
		if string(m.Config) != c.config || tool.Limits.MemoryBytes != c.memory || m.Limits != tool.Limits {
			t.Errorf("accepted %v: config %s, memory %d", c.accepted, m.Config, tool.Limits.MemoryBytes)
		}
		if tool.Limits.TimeoutMS != 30_000 {
			t.Errorf("the project raised a limit to %d", tool.Limits.TimeoutMS)
		}
	}
}

func TestInvalidConfigFailsAndRecovers(t *testing.T) {
	w := newWorld(t)
	place(t, w.store, openSample(t))
	w.enable("")
	w.settings(strings.Replace(goodSettings, "{strict: true}", `{separator: "too long"}`, 1))
	w.reopen(true)
	before := len(w.types())
	for range 2 {
		_, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize")
		wantFault(t, err, fault.InvalidInput, "bad_config", "/separator")
	}
	if s := w.status("acme-csv"); s.State != Failed || !s.Enabled || !strings.Contains(s.Reason, "separator") || s.TrustLevel != UserInstalled {
		t.Errorf("status is %+v", s)
	}
	w.settings(goodSettings)
	if _, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize"); err != nil {
		t.Fatal(err)
	}
	types := w.types()[before:]
	if len(types) != 2 || types[0] != event.CapabilityFailed || types[1] != event.CapabilityActivated {
		t.Errorf("events are %v", types)
	}
}

func TestEnableWithInvalidConfigDoesNotAsk(t *testing.T) {
	w := newWorld(t)
	place(t, w.store, openSample(t))
	w.settings("schema_version: 1\ncapabilities: {acme-csv: {config: {unknown: 1}}}\n")
	w.reopen(true)
	_, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", func(Disclosure) (bool, error) {
		t.Error("asked")
		return true, nil
	})
	wantFault(t, err, fault.InvalidInput, "bad_config", "unknown")
	if s := w.status("acme-csv"); s.State != Failed || s.Enabled {
		t.Errorf("status is %+v", s)
	}
}

// TestForbiddingNeedsNoAcceptance: what a project's file takes away counts at once,
// what it gives only when a person accepted it.
func TestForbiddingNeedsNoAcceptance(t *testing.T) {
	for _, c := range []struct{ name, settings, code, message string }{
		{"switched off", "capabilities: {acme-csv: {enabled: false}}", "switched_off", "switched off"},
		{"ceiling without the flag", "policy: {ceiling: {write_project: true}}", "ceiling", "read_project"},
		{"ceiling with another scope", "policy: {ceiling: {read_project: true, scopes: {read: [docs/**]}}}", "ceiling", "read(data/**)"},
		{"signature", "policy: {require_signature: ['**']}", "signature_required", "no signature came with it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			place(t, w.store, openSample(t))
			w.enable("")
			w.settings("schema_version: 1\n" + c.settings + "\n")
			_, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize")
			wantFault(t, err, fault.PermissionDenied, c.code, c.message)
			if err := w.lifecycle.Disable(t.Context(), "acme-csv", ""); err != nil {
				t.Fatal(err)
			}
			_, err = w.lifecycle.Enable(t.Context(), "acme-csv", "", yes)
			wantFault(t, err, fault.PermissionDenied, c.code, c.message)
		})
	}
	w := newWorld(t)
	place(t, w.store, openSample(t))
	w.settings("schema_version: 1\ncapabilities: {acme-csv: {enabled: true}}\npolicy: {ceiling: {read_project: true, scopes: {read: [data/**]}}}\n")
	if _, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize"); !fault.Is(err, fault.ApprovalRequired) {
		t.Errorf("a file enabled it: %v", err)
	}
	w.enable("") // within the ceiling
}

func TestPinnedDigest(t *testing.T) {
	w := newWorld(t)
	one, two := withVersion(t, "1.0.0"), withVersion(t, "2.0.0")
	place(t, w.store, one)
	place(t, w.store, two)
	w.settings("schema_version: 1\ncapabilities: {acme-csv: {digest: \"" + one.Digest + "\"}}\n")
	w.reopen(true)
	if s := w.enable(""); s.Version != "1.0.0" {
		t.Errorf("enabled was %s, want the pinned 1.0.0", s.Version)
	}
}

// TestDurableEvents: what is stored of a capability's own events is as a person accepted it.
func TestDurableEvents(t *testing.T) {
	w := newWorld(t)
	place(t, w.store, openSample(t))
	w.enable("")
	w.settings("schema_version: 1\ncapabilities: {acme-csv: {durable_events: {capability.acme-csv.row_done: {type: object}}}}\n")
	for _, accepted := range []bool{true, false} {
		w.reopen(accepted)
		tool, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize")
		if err != nil {
			t.Fatal(err)
		}
		if form, is := tool.DurableEvents["capability.acme-csv.row_done"]; is != accepted || is && string(form) != `{"type":"object"}` {
			t.Errorf("accepted %t: %s", accepted, tool.DurableEvents)
		}
	}
}

func TestSettingsRefusals(t *testing.T) {
	w := newWorld(t)
	place(t, w.store, openSample(t))
	w.enable("")
	for _, c := range []struct{ name, text, message string }{
		{"unknown key", "schema_version: 1\ncapabilites: {}\n", `line 2: unknown key "capabilites", did you mean "capabilities"`},
		{"unknown key of a capability", "schema_version: 1\ncapabilities:\n  acme-csv:\n    confg: {}\n", "line 4"},
		{"version", "schema_version: 2\n", "this air knows 1"},
		{"no version", "capabilities: {}\n", "schema_version"},
		{"id", "schema_version: 1\ncapabilities: {Acme: {}}\n", "no capability name"},
		{"digest", "schema_version: 1\ncapabilities: {acme-csv: {digest: sha256:12}}\n", "/capabilities/acme-csv/digest"},
		{"limit over its ceiling", "schema_version: 1\ncapabilities: {acme-csv: {limits: {call_depth: 9}}}\n", "call_depth"},
		{"unknown limit", "schema_version: 1\ncapabilities: {acme-csv: {limits: {memory: 9}}}\n", "memory"},
		{"durable event of another", "schema_version: 1\ncapabilities: {acme-csv: {durable_events: {capability.other.x: true}}}\n", "not an event of acme-csv"},
		{"durable event without the form of one", "schema_version: 1\ncapabilities: {acme-csv: {durable_events: {capability.acme-csv.Row Done: true}}}\n", "not an event of acme-csv"},
		{"durable event with a bad schema", "schema_version: 1\ncapabilities: {acme-csv: {durable_events: {capability.acme-csv.x: {type: 7}}}}\n", "schema"},
		{"ceiling", "schema_version: 1\npolicy: {ceiling: {scopes: {read: [../x]}}}\n", "/policy/ceiling/scopes/read"},
		{"signature pattern", "schema_version: 1\npolicy: {require_signature: [\"a[\"]}\n", "/policy/require_signature/0"},
		{"anchors", "schema_version: &x 1\n", "anchors"},
		{"too large", "schema_version: 1\n#" + strings.Repeat("x", 256<<10), "limit"},
		{"no mapping", "[]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.settings(c.text)
			_, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize")
			wantFault(t, err, fault.InvalidInput, "bad_settings", c.message)
		})
	}
	file := w.lifecycle.config.Project.Shared(settingsFile)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize")
	wantFault(t, err, fault.InvalidInput, "bad_settings", "no regular file")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	symlink(t, filepath.Join(t.TempDir(), "x"), file)
	_, err = w.lifecycle.Tool(t.Context(), "acme-csv.summarize")
	wantFault(t, err, fault.InvalidInput, "bad_settings", "capabilities.yaml")
}

func TestBeyond(t *testing.T) {
	all := PermissionDeclaration{
		ReadProject: true, WriteProject: true, ExecuteCommands: true, Network: true, SystemSensitive: true, Credentials: true, ProjectOutsideWrite: true,
	}
	if got := beyond(all, all); len(got) > 0 {
		t.Errorf("a declaration is beyond itself: %v", got)
	}
	if got := beyond(all, PermissionDeclaration{}); len(got) != 7 {
		t.Errorf("beyond nothing are %v", got)
	}
	ceiling := all
	ceiling.Scopes.Read = []string{"a/**", "b/**"}
	if got := beyond(all, ceiling); len(got) != 1 || got[0] != "read without a scope" {
		t.Errorf("the whole project under a scope: %v", got)
	}
	narrow := all
	narrow.Scopes.Read = []string{"b/**"}
	if got := beyond(narrow, ceiling); len(got) > 0 {
		t.Errorf("a named scope: %v", got)
	}
	narrow.Scopes.Read = []string{"b/**", "b/c/**"}
	if got := beyond(narrow, ceiling); len(got) != 1 || got[0] != "read(b/c/**)" {
		t.Errorf("a scope that is not named letter by letter: %v", got)
	}
}

func TestLowered(t *testing.T) {
	have := runtime.Limits{}.WithDefaults()
	if got := lowered(have, runtime.Limits{}); got != have {
		t.Errorf("nothing lowered the limits to %+v", got)
	}
	got := lowered(have, runtime.Limits{HostCalls: 10, CallDepth: 8})
	if got.HostCalls != 10 || got.CallDepth != 4 {
		t.Errorf("got %+v", got)
	}
}

func TestMergeConfig(t *testing.T) {
	schema := []byte(`{"properties":{"a":{"default":1},"b":{"default":{"x":1}},"c":{},"d":true}}`)
	for given, want := range map[string]string{
		"":                    `{"a":1,"b":{"x":1}}`,
		`{"a":2,"b":{"y":2}}`: `{"a":2,"b":{"y":2}}`, // at the top level only: objects are not mixed
		`{"c":null}`:          `{"a":1,"b":{"x":1},"c":null}`,
	} {
		if got, err := mergeConfig(schema, []byte(given)); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", given, got, err, want)
		}
	}
	if _, err := mergeConfig(schema, []byte(`[]`)); err == nil {
		t.Error("a list is taken for a config")
	}
}
