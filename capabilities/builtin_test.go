package capabilities

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/schema"
	"github.com/aircoding/air/resources"
	"github.com/aircoding/air/runtime"
)

var builtinNames = []string{
	"air.undo", "artifact.create", "artifact.read", "event.emit", "fs.edit", "fs.list", "fs.patch", "fs.read", "fs.stat", "fs.write",
	"git.diff", "git.merge_workspace", "git.status", "git.worktree.create",
	"network.fetch", "permission.request", "process.kill", "shell.run",
}

func TestBuiltinManifestsAreValid(t *testing.T) {
	files, err := resources.Capabilities()
	if err != nil {
		t.Fatal(err)
	}
	ownOnly := regexp.MustCompile(`^(/capability_id|/trust_level|/source/kind|/entrypoint/kind|/tools/[0-9]+/name)$`)
	all, err := builtins()
	if err != nil || len(all) != len(files) {
		t.Fatal(len(all), err)
	}
	for _, m := range all {
		if !isReserved(m.CapabilityID) || m.TrustLevel != BuiltIn || m.Source.Kind != "built_in" || m.Entrypoint.Kind != "native" {
			t.Errorf("%s is not declared as air's own", m.CapabilityID)
		}
		for _, tool := range m.Tools {
			if !isReserved(ownerOf(tool.Name)) {
				t.Errorf("%s has no reserved namespace", tool.Name)
			}
		}
		_, err := ParseManifest(files[m.CapabilityID+".json"])
		if err == nil {
			t.Errorf("%s is accepted from a third party", m.CapabilityID)
			continue
		}
		for _, p := range problemsOf(t, err) { // all else has to be right
			if placeholder := p.Pointer == "/tools" && len(m.Tools) == 0; !placeholder && !ownOnly.MatchString(p.Pointer) {
				t.Errorf("%s: %v", m.CapabilityID, p)
			}
		}
	}
}

// TestBuiltinCapabilities: those of section 12 of the trust model, and of those that have
// no tools yet only the name.
func TestBuiltinCapabilities(t *testing.T) {
	want := map[string]State{
		"core-filesystem": Active, "core-shell": Active, "core-git": Active, "core-artifacts": Active, "core-permission": Active,
		"core-project": Discovered, "core-context": Discovered, "core-doctor": Discovered, "toolchain-cpp": Discovered, "debug-basic": Discovered,
		"gui-evidence-basic": Discovered, "network-evidence-basic": Discovered, "ui-design-assets-basic": Discovered,
	}
	all, err := builtinStatus()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if state, ok := want[s.ID]; ok && (s.State != state || s.Enabled != (state == Active) || s.TrustLevel != BuiltIn) {
			t.Errorf("status is %+v, want %s", s, state)
		}
		delete(want, s.ID)
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", want)
	}
}

func TestBuiltinTools(t *testing.T) {
	all := map[string]runtime.Implementation{}
	for _, name := range builtinNames {
		all[name] = fake{}
	}
	tools, err := BuiltinTools(all)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
		if !tool.BuiltIn() || tool.Implementation == nil || tool.Version != 1 {
			t.Errorf("%+v", tool)
		}
		if tool.Unrecorded != (tool.Name == "event.emit") {
			t.Errorf("%s: unrecorded is %v", tool.Name, tool.Unrecorded)
		}
		if tool.DirectOnly != (tool.Name == "air.undo" || tool.Name == "permission.request") {
			t.Errorf("%s: direct only is %v", tool.Name, tool.DirectOnly)
		}
		if p, ofFiles := tool.Permissions, strings.HasPrefix(tool.Name, "fs.") || strings.HasPrefix(tool.Name, "git.") || tool.Name == "air.undo"; (p.Read || p.Write) != ofFiles {
			t.Errorf("%s: permissions are %+v", tool.Name, p)
		}
	}
	if slices.Sort(names); !slices.Equal(names, builtinNames) {
		t.Errorf("tools are %v", names)
	}
	delete(all, "fs.stat")
	if _, err := BuiltinTools(all); err == nil || !strings.Contains(err.Error(), "fs.stat has no implementation") {
		t.Errorf("a missing implementation: %v", err)
	}
	all["fs.stat"], all["fs.chmod"] = fake{}, fake{}
	if _, err := BuiltinTools(all); err == nil || !strings.Contains(err.Error(), "[fs.chmod]") {
		t.Errorf("an undeclared tool: %v", err)
	}
}

// TestBuiltinSchemas: expected by hand from the seeds' types and the contracts.
func TestBuiltinSchemas(t *testing.T) {
	for _, c := range []struct {
		tool, side, doc string
		ok              bool
	}{
		{"fs.list", "in", `{"path":"."}`, true},
		{"fs.list", "in", `{"path":".","recursive":true,"max_depth":3,"include_hidden":true,"glob":"**/*.go"}`, true},
		{"fs.list", "in", `{}`, false},
		{"fs.list", "in", `{"path":""}`, false},
		{"fs.list", "in", `{"path":".","max_depth":0}`, false},
		{"fs.list", "in", `{"path":".","depth":3}`, false},
		{"fs.list", "out", `{"entries":[{"path":"a","type":"file","size_bytes":1,"modified_at":"2026-01-01T00:00:00Z"}],"truncated":false}`, true},
		{"fs.list", "out", `{"entries":[{"path":"a","type":"fifo"}],"truncated":false}`, false},
		{"fs.list", "out", `{"entries":[{"path":"a","type":"file","mode":"0644"}],"truncated":false}`, false},
		{"fs.read", "in", `{"path":"x","offset_lines":0,"limit_lines":1,"pages":"1-3","encoding":"base64"}`, true},
		{"fs.read", "in", `{"path":"x","encoding":"utf-8"}`, false},
		{"fs.read", "in", `{"path":"x","offset_lines":-1}`, false},
		{"fs.read", "out", `{"path":"x","content":"a","content_type":"text","line_count":1,"truncated":false}`, true},
		{"fs.read", "out", `{"path":"x","content_type":"empty"}`, false},
		{"fs.stat", "in", `{"path":"x"}`, true},
		{"fs.stat", "out", `{"path":"x","exists":false}`, true},
		{"fs.stat", "out", `{"path":"x","exists":true,"owner":"root"}`, false},
		{"fs.write", "in", `{"path":"x","content":"","create_parent_dirs":true}`, true},
		{"fs.write", "in", `{"path":"x","content":"","expected_existing_sha256":"ABC"}`, false},
		{"fs.write", "out", `{"path":"x","bytes_written":0,"sha256":"` + strings.Repeat("0", 64) + `"}`, true},
		{"air.undo", "in", `{}`, true},
		{"air.undo", "in", `{"run_id":"01890000-0000-7000-8000-000000000001"}`, true},
		{"air.undo", "in", `{"run_id":"../x"}`, false},
		{"air.undo", "out", `{"run_id":"x","tool":"fs.write","files":[{"path":"a","change":"restored"}],"file_count":1,"truncated":false}`, true},
		{"air.undo", "out", `{"run_id":"x","tool":"fs.write","files":[{"path":"a","change":"lost"}],"file_count":1,"truncated":false}`, false},
		{"artifact.create", "in", `{"type":"report","content":"x","metadata":{"a":[1]}}`, true},
		{"artifact.create", "in", `{"type":"../x","content":"x"}`, false}, // G24
		{"artifact.read", "in", `{"artifact_id":"art_1","offset_bytes":5,"limit_bytes":10}`, true},
		{"artifact.read", "in", `{"artifact_id":"art_1","limit_bytes":0}`, false},
		{"artifact.read", "out", `{"content":"","encoding":"utf8","size_bytes":0,"truncated":false}`, true},
		{"event.emit", "in", `{"kind":"log","level":"warn","msg":"x"}`, true},
		{"event.emit", "in", `{"kind":"log"}`, false},
		{"event.emit", "in", `{"kind":"progress","fraction":0.5}`, true},
		{"event.emit", "in", `{"kind":"progress","fraction":2}`, false},
		{"event.emit", "in", `{"kind":"partial","output":[1]}`, true},
		{"event.emit", "in", `{"kind":"event","name":"row_done","payload":{}}`, true},
		{"event.emit", "in", `{"kind":"event","name":"x","msg":"y"}`, false},
		{"event.emit", "out", `{}`, true},
		{"event.emit", "out", `{"a":1}`, false},
	} {
		if err := builtinSchema(t, c.tool, c.side).Validate([]byte(c.doc)); (err == nil) != c.ok {
			t.Errorf("%s %s %s: %v, want ok %v", c.tool, c.side, c.doc, err, c.ok)
		}
	}
}

func builtinSchema(t *testing.T, tool, side string) *schema.Schema {
	t.Helper()
	all, err := builtins()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		d, ok := m.Tool(tool)
		if !ok {
			continue
		}
		text := d.InputSchema
		if side == "out" {
			text = d.OutputSchema
		}
		s, err := schema.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Fatalf("no tool %s", tool)
	return nil
}

func TestOwnSchemasCompile(t *testing.T) {
	for kind, doc := range map[string]string{
		"capabilities": `{"schema_version":1,"capabilities":{"a":{"enabled":true,"config":{},"limits":{"call_depth":1}}},"policy":{"ceiling":{"network":true}}}`,
		"capability-lock": `{"schema_version":1,"capabilities":{"a":{"version":"1","source":{"kind":"local_path","path":"/x"},"digest":"sha256:` + strings.Repeat("0", 64) +
			`","manifest_hash":"sha256:` + strings.Repeat("1", 64) + `","module_sha256":"` + strings.Repeat("2", 64) + `","permissions":{"read_project":true},"signer":""}}}`,
	} {
		var p problems
		if checkOwnSchema(kind, []byte(doc), &p); len(p.list) > 0 {
			t.Errorf("%s: %v", kind, p.list)
		}
	}
	if _, err := resources.Schema("nonsense"); err == nil {
		t.Error("there is a schema of nonsense")
	}
}
