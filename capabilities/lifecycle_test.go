package capabilities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/oci"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

// world is a person's ~/.air with one project.
type world struct {
	testing.TB
	dir       string
	store     *Store
	lifecycle *Lifecycle
	events    *event.Store
	modules   []Module // what implementations were made of
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return worldIn(t, t.TempDir())
}

// worldIn is the world in a folder that may have had one already.
func worldIn(t testing.TB, dir string) *world {
	t.Helper()
	w := &world{TB: t, dir: dir}
	air := filepath.Join(w.dir, "air")
	key, err := event.LoadKey(filepath.Join(air, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	w.events, err = event.Open(filepath.Join(air, "events.db"), key, event.Options{HeadDir: filepath.Join(air, "keys", "heads")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.events.Close(); err != nil {
			t.Error(err)
		}
	})
	addFiles(t, w.dir, map[string]string{"project/.air/shared/project.json": "{}"})
	w.store = OpenStore(filepath.Join(air, "capabilities"))
	w.reopen(false)
	return w
}

// reopen is what the next command does. accepted is whether capabilities.yaml is.
func (w *world) reopen(accepted bool) {
	w.Helper()
	var err error
	w.lifecycle, err = New(LifecycleConfig{
		Store: w.store, Project: home.Project{Root: filepath.Join(w.dir, "project"), ID: "p", Dir: filepath.Join(w.dir, "home")}, Events: w.events, Accepted: func([]byte) bool { return accepted },
		NewImplementation: func(m Module) runtime.Implementation {
			w.modules = append(w.modules, m)
			return fake{}
		},
	})
	if err != nil {
		w.Fatal(err)
	}
}

type fake struct{}

func (fake) Plan(json.RawMessage) ([]permission.Effect, error) { return nil, nil }
func (fake) Run(context.Context, *runtime.Access, json.RawMessage) (any, error) {
	return struct{}{}, nil
}

func yes(Disclosure) (bool, error) { return true, nil }

func (w *world) enable(digest string) Status {
	w.Helper()
	s, err := w.lifecycle.Enable(w.Context(), "acme-csv", digest, yes)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

func (w *world) settings(text string) {
	addFiles(w.TB, w.dir, map[string]string{"project/.air/shared/capabilities.yaml": text})
}

func (w *world) localBundle() string {
	dir := filepath.Join(w.dir, "project", ".air", "shared", "capabilities", "acme-csv")
	addFiles(w.TB, dir, sampleFiles())
	return dir
}

// types are those of the events so far.
func (w *world) types() []string {
	w.Helper()
	all, err := w.events.List(w.Context(), event.Query{})
	if err != nil {
		w.Fatal(err)
	}
	var types []string
	for _, e := range all {
		types = append(types, e.Type)
	}
	return types
}

func (w *world) wantTypes(want ...string) {
	w.Helper()
	if got := w.types(); !slices.Equal(got, want) {
		w.Errorf("events are\n %v, want\n %v", got, want)
	}
}

func (w *world) status(id string) Status {
	w.Helper()
	all, err := w.lifecycle.Discover(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	for _, s := range all {
		if s.ID == id {
			return s
		}
	}
	w.Fatalf("%s is not listed in %+v", id, all)
	return Status{}
}

func TestEnable(t *testing.T) {
	w := newWorld(t)
	b := openSample(t)
	place(t, w.store, b)
	_, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize")
	wantFault(t, err, fault.ApprovalRequired, "approval_required", "acme-csv")
	if hint := fault.From(err).Hint; !strings.Contains(hint, "air enable acme-csv") {
		t.Errorf("the hint is %q", hint)
	}
	var shown Disclosure
	status, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", func(d Disclosure) (bool, error) { shown = d; return true, nil })
	if err != nil {
		t.Fatal(err)
	}
	if shown.Digest != b.Digest || shown.TrustLevel != UserInstalled || shown.Signer != "none" || shown.Source != "folder /src/acme-csv" {
		t.Errorf("shown was %+v", shown)
	}
	if status.State != Active || !status.Enabled || status.Digest != b.Digest {
		t.Errorf("status is %+v", status)
	}
	w.wantTypes(event.CapabilityDiscovered, event.CapabilityValidated, event.CapabilityEnabled, event.CapabilityRegistered, event.CapabilityActivated)

	tool, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize")
	if err != nil {
		t.Fatal(err)
	}
	if tool.Owner.Capability != "acme-csv" || tool.Owner.Digest != b.Digest || !tool.Owner.Consented || tool.BuiltIn() {
		t.Errorf("the owner is %+v", tool.Owner)
	}
	if !tool.Owner.Permissions.Read || tool.Owner.Permissions.Write || !slices.Equal(tool.Owner.Scopes.Read, []string{"data/**"}) || !slices.Equal(tool.Owner.Permissions.Artifacts, []string{"report"}) {
		t.Errorf("the owner's permissions are %+v", tool.Owner)
	}
	if tool.Limits.MemoryBytes != 32<<20 || tool.Limits.TimeoutMS != 30_000 {
		t.Errorf("limits are %+v", tool.Limits)
	}
	m := w.modules[len(w.modules)-1]
	if m.Tool != "acme-csv.summarize" || m.ModuleSHA256 != b.ModuleSHA256 || string(m.Config) != `{"separator":","}` {
		t.Errorf("the module is %+v", m)
	}
	if content, err := os.ReadFile(m.Path); err != nil || string(content) != string(minimalModule) {
		t.Errorf("the module's path is wrong: %v", err)
	}
	other, err := w.lifecycle.Tool(t.Context(), "acme-csv.table.count")
	if err != nil || other.Owner.Permissions.Read {
		t.Errorf("a tool that declares no flag has %+v (%v)", other.Owner.Permissions, err)
	}
	_, err = w.lifecycle.Tool(t.Context(), "acme-csv.nothing")
	wantFault(t, err, fault.NotFound, "unknown_tool", "acme-csv.nothing")
	if hint := fault.From(err).Hint; !strings.Contains(hint, "acme-csv.summarize") {
		t.Errorf("the hint is %q", hint)
	}
	w.wantTypes(event.CapabilityDiscovered, event.CapabilityValidated, event.CapabilityEnabled, event.CapabilityRegistered, event.CapabilityActivated)
	if tools, err := w.lifecycle.Tools(t.Context()); err != nil || len(tools) != 2 {
		t.Errorf("tools are %v, %v", tools, err)
	}
}

func TestEnableAgainAsksNothing(t *testing.T) {
	w := newWorld(t)
	place(t, w.store, openSample(t))
	w.enable("")
	before := w.types()
	_, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", func(Disclosure) (bool, error) { return false, errors.New("asked again") })
	if err != nil {
		t.Error(err)
	}
	w.wantTypes(before...)
}

func TestEnableDeclined(t *testing.T) {
	w := newWorld(t)
	place(t, w.store, openSample(t))
	_, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", func(Disclosure) (bool, error) { return false, nil })
	wantFault(t, err, fault.Cancelled, "declined", "acme-csv")
	nobody := fault.New(fault.ApprovalRequired, "no_terminal", "nobody to ask")
	_, err = w.lifecycle.Enable(t.Context(), "acme-csv", "", func(Disclosure) (bool, error) { return true, nobody })
	wantFault(t, err, fault.ApprovalRequired, "no_terminal", "nobody")
	if _, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize"); err == nil {
		t.Error("it is enabled all the same")
	}
	w.wantTypes(event.CapabilityDiscovered, event.CapabilityValidated)
	if s := w.status("acme-csv"); s.State != Validated || s.Enabled {
		t.Errorf("status is %+v", s)
	}
}

func TestEnableRefusals(t *testing.T) {
	w := newWorld(t)
	_, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", yes)
	wantFault(t, err, fault.NotFound, "not_installed", "acme-csv")
	_, err = w.lifecycle.Enable(t.Context(), "../x", "", yes)
	wantFault(t, err, fault.InvalidInput, "bad_name", "../x")
	place(t, w.store, openSample(t))
	_, err = w.lifecycle.Enable(t.Context(), "acme-csv", "sha256:"+strings.Repeat("0", 64), yes)
	wantFault(t, err, fault.NotFound, "not_installed", "not as")
	w.lifecycle.config.Project = home.Project{}
	_, err = w.lifecycle.Enable(t.Context(), "acme-csv", "", yes)
	wantFault(t, err, fault.InvalidInput, "no_project", "project")
	w.wantTypes()
}

func TestUpdateAndOlderDigest(t *testing.T) {
	w := newWorld(t)
	one, two := withVersion(t, "1.0.0"), withVersion(t, "2.0.0")
	place(t, w.store, one)
	w.enable("")
	place(t, w.store, two)
	if tool, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize"); err != nil || tool.Owner.Digest != one.Digest {
		t.Fatalf("placing an update changed what runs: %v", err)
	}
	var shown Disclosure
	if _, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", func(d Disclosure) (bool, error) { shown = d; return true, nil }); err != nil {
		t.Fatal(err)
	}
	if shown.Version != "2.0.0" || shown.Changes == nil || shown.Changes.From.Version != "1.0.0" || shown.Changes.From.Digest != one.Digest {
		t.Errorf("shown was %+v", shown)
	}
	if tool, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize"); err != nil || tool.Owner.Digest != two.Digest {
		t.Errorf("after the update: %v", err)
	}
	if types := w.types(); !slices.Contains(types, event.CapabilityUpdated) {
		t.Errorf("events are %v", types)
	}
	all, err := w.lifecycle.Discover(t.Context())
	if err != nil || all[0].Version != "2.0.0" || all[0].State != Active || all[1].State != Updated || all[1].Enabled {
		t.Errorf("listed are %+v, %v", all[:2], err)
	}
	_, err = w.lifecycle.Enable(t.Context(), "acme-csv", one.Digest[:20], yes)
	wantFault(t, err, fault.PermissionDenied, "downgrade", "1.0.0")
	if s, err := w.lifecycle.Rollback(t.Context(), "acme-csv", one.Digest[:20], yes); err != nil || s.Version != "1.0.0" {
		t.Errorf("gone back to the older one: %+v, %v", s, err)
	}
}

// TestG14ChangedAfterEnabling: the consent was to other bytes.
func TestG14ChangedAfterEnabling(t *testing.T) {
	w := newWorld(t)
	b := openSample(t)
	i := place(t, w.store, b)
	w.enable("")
	before := len(w.types())
	addFiles(t, i.Dir, map[string]string{"module.wasm": string(minimalModule) + "\x00\x05\x04evil"})
	for range 3 {
		_, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize")
		wantFault(t, err, fault.Integrity, "bundle_changed", "module.wasm")
	}
	if types := w.types(); len(types) != before+1 || types[before] != event.CapabilityFailed {
		t.Errorf("want one event capability.failed, got %v", types[before:])
	}
	if s := w.status("acme-csv"); s.State != Failed || s.TrustLevel != Untrusted || !strings.Contains(s.Reason, "module.wasm") {
		t.Errorf("status is %+v", s)
	}
	if tools, err := w.lifecycle.Tools(t.Context()); err != nil || len(tools) != 0 {
		t.Errorf("its tools are still listed: %v, %v", tools, err)
	}
	place(t, w.store, b) // pulled again: the bytes that were consented to
	if _, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize"); err != nil {
		t.Errorf("with the right bytes: %v", err)
	}
	if s := w.status("acme-csv"); s.State != Active || s.TrustLevel != UserInstalled || s.Reason != "" {
		t.Errorf("status is %+v", s)
	}
}

func TestG14ProjectLocalChanged(t *testing.T) {
	w := newWorld(t)
	dir := w.localBundle()
	if s := w.enable(""); s.TrustLevel != ProjectLocal {
		t.Errorf("status is %+v", s)
	}
	if _, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize"); err != nil {
		t.Fatal(err)
	}
	addFiles(t, dir, map[string]string{"docs/guide/one.md": "Now do as I say.\n"}) // as git pull may do
	_, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize")
	wantFault(t, err, fault.Integrity, "bundle_changed", "not what was enabled")
	asked := false
	if _, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", func(Disclosure) (bool, error) { asked = true; return true, nil }); err != nil || !asked {
		t.Errorf("enabling the changed bundle: asked %v, %v", asked, err)
	}
	if _, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize"); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	_, err = w.lifecycle.Tool(t.Context(), "acme-csv.summarize")
	wantFault(t, err, fault.Integrity, "bundle_changed", "acme-csv")
	if s := w.status("acme-csv"); s.State != Failed || s.TrustLevel != Untrusted {
		t.Errorf("status is %+v", s)
	}
}

func TestProjectLocalRefusals(t *testing.T) {
	w := newWorld(t)
	dir := w.localBundle()
	parent := filepath.Dir(dir)
	if err := os.Rename(dir, filepath.Join(w.dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	symlink(t, filepath.Join(w.dir, "elsewhere"), dir)
	_, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", yes)
	wantFault(t, err, fault.InvalidInput, "bad_bundle", "no folder of the project")
	if s := w.status("acme-csv"); s.State != Failed || s.Digest != "" {
		t.Errorf("status is %+v", s)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	addFiles(t, filepath.Join(parent, "other-name"), sampleFiles())
	_, err = w.lifecycle.Enable(t.Context(), "other-name", "", yes)
	wantFault(t, err, fault.InvalidInput, "bad_bundle", "must be the same")
	before := len(w.types())
	w.status("other-name")
	after := len(w.types())
	w.status("other-name")
	if len(w.types()) != after || after != before+2 {
		t.Errorf("an invalid folder leaves discovered and failed once, got %v", w.types()[before:])
	}
}

func TestAmbiguousAndByDigest(t *testing.T) {
	w := newWorld(t)
	w.localBundle()
	installed := withVersion(t, "3.0.0")
	place(t, w.store, installed)
	_, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", yes)
	wantFault(t, err, fault.InvalidInput, "ambiguous", "besides")
	if s := w.enable(openSample(t).Digest); s.TrustLevel != ProjectLocal {
		t.Errorf("status is %+v", s)
	}
	if s := w.enable(installed.Digest); s.TrustLevel != UserInstalled || s.Version != "3.0.0" {
		t.Errorf("status is %+v", s)
	}
}

// TestEnableByShortDigest: what a person consents to is named by 8 hex digits at the
// least, wherever it lies.
func TestEnableByShortDigest(t *testing.T) {
	w := newWorld(t)
	w.localBundle()
	digest := openSample(t).Digest
	for _, written := range []string{"s", "sha256:", digest[:len("sha256:")+7], strings.ToUpper(digest)} {
		_, err := w.lifecycle.Enable(t.Context(), "acme-csv", written, yes)
		wantFault(t, err, fault.NotFound, "not_installed", "acme-csv")
	}
	if s := w.enable(digest[:len("sha256:")+8]); s.TrustLevel != ProjectLocal {
		t.Errorf("status is %+v", s)
	}
}

// TestFind: what air inspect and air validate show is what air enable would take.
func TestFind(t *testing.T) {
	w := newWorld(t)
	w.localBundle()
	found, err := w.lifecycle.Find("acme-csv", "")
	if err != nil || found.TrustLevel != ProjectLocal || found.Source.String() != "folder .air/shared/capabilities/acme-csv" || found.Digest != openSample(t).Digest {
		t.Errorf("of the project: %+v, %v", found, err)
	}
	installed := withVersion(t, "3.0.0")
	place(t, w.store, installed)
	found, err = w.lifecycle.Find("acme-csv", installed.Digest)
	if err != nil || found.TrustLevel != UserInstalled || found.Source != sampleSource || found.Manifest.Version != "3.0.0" {
		t.Errorf("installed: %+v, %v", found, err)
	}
	_, err = w.lifecycle.Find("other", "")
	wantFault(t, err, fault.NotFound, "not_installed", "other")
}

func TestDisable(t *testing.T) {
	w := newWorld(t)
	place(t, w.store, openSample(t))
	wantFault(t, w.lifecycle.Disable(t.Context(), "acme-csv", ""), fault.NotFound, "not_enabled", "acme-csv")
	w.enable("")
	if err := w.lifecycle.Disable(t.Context(), "acme-csv", "emitted the event tool.completed\x1b[2J"); err != nil {
		t.Fatal(err)
	}
	_, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize")
	wantFault(t, err, fault.NotFound, "unknown_tool", "acme-csv")
	if hint := fault.From(err).Hint; !strings.Contains(hint, "disabled (emitted the event tool.completed[2J)") {
		t.Errorf("the hint is %q", hint)
	}
	if s := w.status("acme-csv"); s.State != Disabled || s.Enabled || s.Reason == "" {
		t.Errorf("status is %+v", s)
	}
	asked := false
	if _, err := w.lifecycle.Enable(t.Context(), "acme-csv", "", func(Disclosure) (bool, error) { asked = true; return true, nil }); err != nil || !asked {
		t.Errorf("bringing it back: asked %v, %v", asked, err)
	}
	if s := w.status("acme-csv"); s.State != Active || s.Reason != "" {
		t.Errorf("status is %+v", s)
	}
}

func TestRemoveInstalled(t *testing.T) {
	w := newWorld(t)
	one, two := withVersion(t, "1.0.0"), withVersion(t, "2.0.0")
	place(t, w.store, one)
	place(t, w.store, two)
	w.enable(one.Digest)
	removed, err := w.lifecycle.Remove(t.Context(), "acme-csv", one.Digest)
	if err != nil || len(removed) != 1 || removed[0].Digest != one.Digest {
		t.Fatalf("removed %v, %v", removed, err)
	}
	if _, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize"); !fault.Is(err, fault.ApprovalRequired) { // the other digest is there
		t.Errorf("a removed capability: %v", err)
	}
	if removed, err = w.lifecycle.Remove(t.Context(), "acme-csv", ""); err != nil || len(removed) != 1 {
		t.Errorf("removed %v, %v", removed, err)
	}
	_, err = w.lifecycle.Remove(t.Context(), "acme-csv", "")
	wantFault(t, err, fault.NotFound, "not_installed", "acme-csv")
	w.localBundle()
	_, err = w.lifecycle.Remove(t.Context(), "acme-csv", "")
	wantFault(t, err, fault.InvalidInput, "project_local", "part of the project")
}

func TestDiscoverRecordsOnce(t *testing.T) {
	w := newWorld(t)
	place(t, w.store, openSample(t))
	if s := w.status("acme-csv"); s.State != Validated || s.Source != "folder /src/acme-csv" || len(s.Tools) != 2 {
		t.Errorf("status is %+v", s)
	}
	w.wantTypes(event.CapabilityDiscovered, event.CapabilityValidated)
	w.reopen(false)
	w.status("acme-csv")
	w.wantTypes(event.CapabilityDiscovered, event.CapabilityValidated)
	if s := w.status("core-filesystem"); s.State != Active || s.TrustLevel != BuiltIn || !slices.Contains(s.Tools, "fs.read") {
		t.Errorf("status is %+v", s)
	}
	var table strings.Builder
	all, err := w.lifecycle.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteStatuses(&table, all); err != nil || !strings.Contains(table.String(), "acme-csv") {
		t.Errorf("%v\n%s", err, table.String())
	}
}

// TestEventsAndStateCommitTogether: every event tells the state that the row has, and
// the chain of the store is whole.
func TestEventsAndStateCommitTogether(t *testing.T) {
	w := newWorld(t)
	place(t, w.store, openSample(t))
	w.enable("")
	if err := w.lifecycle.Disable(t.Context(), "acme-csv", ""); err != nil {
		t.Fatal(err)
	}
	last, err := w.events.List(t.Context(), event.Query{Newest: true, Limit: 1})
	if err != nil || len(last) != 1 {
		t.Fatal(err)
	}
	var p struct {
		State  State  `json:"state"`
		Digest string `json:"digest"`
	}
	if err := json.Unmarshal(last[0].Payload, &p); err != nil {
		t.Fatal(err)
	}
	rows, err := w.lifecycle.rows(t.Context(), `WHERE id = 'acme-csv'`)
	if err != nil || len(rows) != 1 || rows[0].State != p.State || rows[0].Digest != p.Digest {
		t.Errorf("the event says %+v, the row %+v (%v)", p, rows, err)
	}
	if last[0].Source.Kind != "person" {
		t.Errorf("the source is %+v", last[0].Source)
	}
	if report, err := w.events.Verify(t.Context()); err != nil || len(report.Problems) > 0 {
		t.Errorf("%v, %v", report, err)
	}
}

// TestToolListsNothing: starting a call reads the one capability that it names. The
// store cannot be listed here (but by root, who can do everything).
func TestToolListsNothing(t *testing.T) {
	w := newWorld(t)
	place(t, w.store, openSample(t))
	w.enable("")
	for _, dir := range []string{w.store.dir, filepath.Join(w.store.dir, "acme-csv")} {
		if err := os.Chmod(dir, 0o100); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	}
	if _, err := w.lifecycle.Tool(t.Context(), "acme-csv.summarize"); err != nil {
		t.Error(err)
	}
}

func TestSingle(t *testing.T) {
	var made Module
	s := Single{Bundle: openSample(t), NewImplementation: func(m Module) runtime.Implementation { made = m; return fake{} }}
	tool, err := s.Tool(t.Context(), "acme-csv.summarize")
	if err != nil {
		t.Fatal(err)
	}
	if tool.Owner.Consented || tool.Owner.Digest != s.Bundle.Digest || string(made.Config) != `{"separator":","}` {
		t.Errorf("%+v, %+v", tool.Owner, made)
	}
	_, err = s.Tool(t.Context(), "other.run")
	wantFault(t, err, fault.NotFound, "unknown_tool", "other.run")
	if tools, err := s.Tools(t.Context()); err != nil || len(tools) != 2 {
		t.Errorf("tools are %d, %v", len(tools), err)
	}
}

func TestSingleBareModule(t *testing.T) {
	b, err := BareModule(filepath.Join(writeFiles(t, map[string]string{"x.wasm": string(minimalModule)}), "x.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	s := Single{Bundle: b, NewImplementation: func(Module) runtime.Implementation { return fake{} }}
	tool, err := s.Tool(t.Context(), "local.anything_at_all")
	if err != nil {
		t.Fatal(err)
	}
	if tool.BuiltIn() || tool.Owner.Capability != "local" || tool.Owner.Digest != "" || tool.Owner.Consented {
		t.Errorf("the owner is %+v", tool.Owner)
	}
	p := tool.Owner.Permissions
	if p.Read || p.Write || p.Execute || p.Network || p.Credentials || p.SystemSensitive || p.OutsideWrite || len(p.Artifacts) > 0 {
		t.Errorf("it may %+v", p)
	}
	if _, err := s.Tool(t.Context(), "local.Bad"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a name that is none: %v", err)
	}
}

// BenchmarkTool is the start of a call, alone and among a thousand installed others.
func BenchmarkTool(b *testing.B) {
	for name, others := range map[string]int{"alone": 0, "among1000": 1000} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b)
			place(b, w.store, openSample(b))
			w.enable("")
			for n := range others {
				addFiles(b, w.store.dir, map[string]string{fmt.Sprintf("other-%d/%064d.json/x", n, n): "{}"})
			}
			for b.Loop() {
				if _, err := w.lifecycle.Tool(b.Context(), "acme-csv.summarize"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestEnableChecksAgain: what lies in the store may come from another version of air,
// which knew less. It is refused before anybody is asked.
func TestEnableChecksAgain(t *testing.T) {
	for _, c := range []struct{ name, manifest, module, code string }{
		{"module", sampleManifest, "<html>", "bad_module"},
		{"manifest", string(edited(t, "/trust_level", "built_in")), string(minimalModule), "bad_manifest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			_, canonical := decodeTree([]byte(c.manifest), &problems{})
			a := openSample(t).Artifact()
			a.Config, a.Layers = canonical, []oci.Layer{memoryLayer("module.wasm", []byte(c.module))}
			a.Layers[0].MediaType = oci.MediaTypeModule
			raw, digest, err := a.Manifest()
			if err != nil {
				t.Fatal(err)
			}
			dir := w.store.path("acme-csv", digest)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := (content{raw: raw, digest: digest, config: canonical, layers: a.Layers}).write(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			if _, err := w.store.Verify("acme-csv", digest); err != nil {
				t.Fatal(err)
			}
			_, err = w.lifecycle.Enable(t.Context(), "acme-csv", "", func(Disclosure) (bool, error) {
				t.Error("asked")
				return true, nil
			})
			wantFault(t, err, fault.InvalidInput, c.code, "")
		})
	}
}
