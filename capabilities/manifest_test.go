package capabilities

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aircoding/air/internal/schema"
	"github.com/aircoding/air/resources"
	"github.com/aircoding/air/runtime/permission"
)

func TestSampleManifestIsValid(t *testing.T) {
	m, err := ParseManifest([]byte(sampleManifest))
	if err != nil {
		t.Fatal(err)
	}
	if m.CapabilityID != "acme-csv" || len(m.Tools) != 2 || m.Tools[1].Version != 2 || m.Entrypoint.Limits.MemoryBytes != 32<<20 {
		t.Errorf("read wrongly: %+v", m)
	}
	if _, ok := m.Tool("acme-csv.table.count"); !ok {
		t.Error("a declared tool is not found")
	}
}

// TestRefusals holds every refusal of the contracts against the pointer that it is
// reported at.
func TestRefusals(t *testing.T) {
	long := strings.Repeat("a", 65)
	for _, c := range []struct {
		name, at string
		value    any
		pointer  string // where it is reported; "" for at
		message  string
	}{
		{"schema version", "/schema_version", 2, "", "this air knows 1"},
		{"id upper case", "/capability_id", "Acme", "", "no capability name"},
		{"id begins with hyphen", "/capability_id", "-acme", "", "no capability name"},
		{"id too long", "/capability_id", long, "", "no capability name"},
		{"id reserved namespace", "/capability_id", "fs", "", "reserved"},
		{"id reserved for mcp", "/capability_id", "mcp", "", "reserved"},
		{"id reserved for bare modules", "/capability_id", "local", "", "reserved"},
		{"id of a built-in", "/capability_id", "core-filesystem", "", "reserved"},
		{"id missing", "/capability_id", nil, "", "is missing"},
		{"empty display name", "/display_name", " \u200b ", "", "is empty"},
		{"long display name", "/display_name", strings.Repeat("é", 129), "", "limit is 128"},
		{"long description", "/description", strings.Repeat("d", 4097), "", "limit is 4096"},
		{"long publisher", "/publisher", strings.Repeat("p", 129), "", "limit is 128"},
		{"version with a space", "/version", "1 0", "", "no version"},
		{"unknown trust level", "/trust_level", "gold", "", "none of"},
		{"unknown source kind", "/source/kind", "ftp", "", "none of"},
		{"source without its path", "/source", map[string]any{"kind": "local_path"}, "/source/path", "is missing"},
		{"source with a foreign field", "/source/path", "x", "", "has no path"},
		{"no tools", "/tools", []any{}, "", "at least one"},
		{"tool of another namespace", "/tools/0/name", "other.run", "", "own name"},
		{"tool in a reserved namespace", "/tools/0/name", "fs.read", "", "reserved"},
		{"tool without a namespace", "/tools/0/name", "run", "", "a capability name, a dot"},
		{"tool with upper case", "/tools/0/name", "acme-csv.Run", "", "a capability name, a dot"},
		{"tool with an empty part", "/tools/0/name", "acme-csv..run", "", "a capability name, a dot"},
		{"tool name too long", "/tools/0/name", "acme-csv." + strings.Repeat("x", 120), "", "limit is 128"},
		{"tool twice", "/tools/1/name", "acme-csv.summarize", "", "declared twice"},
		{"tool version 0", "/tools/0/version", 0, "", "count from 1"},
		{"category", "/tools/0/category", "filesytem", "", "did you mean filesystem"},
		{"long title of a tool", "/tools/0/annotations/title", strings.Repeat("é", 129), "", "limit is 128"},
		{"long notes", "/dependencies/0/permission_notes", strings.Repeat("é", 4097), "", "limit is 4096"},
		{"tool flag beyond the manifest", "/tools/0/permissions/network", true, "", "more than its capability"},
		{"write flag beyond the manifest", "/tools/1/permissions/write_paths", true, "", "more than its capability"},
		{"execute flag beyond the manifest", "/tools/1/permissions/execute", true, "", "more than its capability"},
		{"credentials flag beyond the manifest", "/tools/1/permissions/credentials", true, "", "more than its capability"},
		{"system flag beyond the manifest", "/tools/1/permissions/system_sensitive", true, "", "more than its capability"},
		{"schema of no object", "/tools/0/input_schema", true, "", "as an object"},
		{"invalid schema", "/tools/0/input_schema/type", "objekt", "/tools/0/input_schema", "schema"},
		{"self-referencing schema", "/tools/0/output_schema", map[string]any{"properties": map[string]any{"a": map[string]any{"$ref": "#"}}}, "", "refers to itself"},
		{"$ref out of the document", "/tools/0/input_schema/properties/path/$ref", "https://example.com/s.json", "/tools/0/input_schema", "$ref"},
		{"$ref into a file", "/config_schema", map[string]any{"$ref": "file:///etc/passwd"}, "", "$ref"},
		{"invalid config schema", "/config_schema/type", 7, "/config_schema", "schema"},
		{"event of another capability", "/events/produced/0", "capability.other.done", "", "own events"},
		{"event of air's", "/events/produced/0", "tool.completed", "", "own events"},
		{"event with upper case", "/events/produced/0", "capability.acme-csv.Done", "", "own events"},
		{"consumed event", "/events/consumed/0", "everything", "", "no event name"},
		{"artifact type G24", "/artifact_types/0", "../x", "", "no artifact type"},
		{"artifact type twice", "/artifact_types/1", "report", "", "listed twice"},
		{"dependency kind", "/dependencies/0/kind", "binnary", "", "did you mean binary"},
		{"dependency name", "/dependencies/0/dependency_id", "a b", "", "no dependency's name"},
		{"detector that runs something", "/dependencies/0/detector", "binary:$(rm -rf /)", "", "no detector"},
		{"detector of unknown kind", "/dependencies/0/detector", "curl:x", "", "no detector"},
		{"detector off this machine", "/dependencies/0/detector", "service:10.0.0.1:80", "", "not on this machine"},
		{"installer strategy", "/dependencies/0/installer/strategy", "always", "", "none of"},
		{"scope without its flag", "/permissions/scopes/write", []any{"x"}, "", "not declared"},
		{"network scope without its flag", "/permissions/scopes/network", []any{"https://a.b:443"}, "", "not declared"},
		{"secret scope without its flag", "/permissions/scopes/secrets", []any{"TOKEN"}, "", "not declared"},
		{"scope that leads out", "/permissions/scopes/read/0", "../**", "", "canonical paths never do"},
		{"scope that is no glob", "/permissions/scopes/read/0", "a[", "", "malformed"},
		{"scope that takes for ever", "/permissions/scopes/read/0", strings.Repeat("{a,b}", 30), "", "braces"},
		{"scope that is empty", "/permissions/scopes/read", []any{}, "", "empty list"},
		{"writing outside of nothing", "/permissions/project_outside_write", true, "", "scopes.write"},
		{"scope with a hidden character", "/permissions/scopes/read/0", "a\u202eb", "", "cannot be seen"},
		{"tool scope", "/permissions/scopes/tools", []any{"everything"}, "/permissions/scopes/tools/0", "no tool's name"},
		{"entrypoint missing", "/entrypoint", nil, "", "is missing"},
		{"native entrypoint", "/entrypoint/kind", "native", "", "only air's own"},
		{"unknown entrypoint", "/entrypoint/kind", "docker", "", "want wasm"},
		{"ABI missing", "/entrypoint/abi", nil, "", "want air.v1 or wasi.command"},
		{"unknown ABI", "/entrypoint/abi", "air.v2", "", "no ABI that this air knows: want air.v1 or wasi.command"},
		{"absolute module", "/entrypoint/module", "/etc/passwd.wasm", "", "no clean relative path"},
		{"module that leads out", "/entrypoint/module", "../m.wasm", "", "no clean relative path"},
		{"module with a backslash", "/entrypoint/module", `a\m.wasm`, "", "backslash"},
		{"module that is unclean", "/entrypoint/module", "a//m.wasm", "", "no clean relative path"},
		{"module that cannot be seen", "/entrypoint/module", "a\u200b.wasm", "", "cannot be seen"},
		{"module of another kind", "/entrypoint/module", "module.json", "", "does not end in .wasm"},
		{"module among assets", "/entrypoint/module", "assets/m.wasm", "", "beside the manifest"},
		{"memory over its ceiling", "/entrypoint/limits/memory_bytes", 1<<30 + 1, "", "between 1 and 1073741824"},
		{"time over its ceiling", "/entrypoint/limits/timeout_ms", 600_001, "", "between 1 and 600000"},
		{"calls over their ceiling", "/entrypoint/limits/host_calls", 100_001, "", "between 1 and 100000"},
		{"depth over its ceiling", "/entrypoint/limits/call_depth", 9, "", "between 1 and 8"},
		{"negative limit", "/entrypoint/limits/log_bytes", -1, "", "between 1 and"},
		{"limit 0", "/entrypoint/limits/output_bytes", 0, "", "at least 1"},
		{"unknown key", "/capabilityid", "x", "", `did you mean "capability_id"`},
		{"unknown key of a tool", "/tools/0/inputschema", true, "", `did you mean "input_schema"`},
		{"unknown key of a scope", "/permissions/scopes/url", true, "", "unknown key"},
		{"key in another case", "/Tools", []any{}, "", `did you mean "tools"`},
		{"wrong type", "/tools/0/streaming", "yes", "", "got a string, want true or false"},
		{"list in place of an object", "/permissions", []any{}, "", "got a list, want an object"},
		{"null", "/permissions", json.RawMessage("null"), "", "got null"},
		{"fraction", "/tools/0/version", 1.5, "", "want a whole number"},
		{"__proto__", "/permissions/__proto__", true, "", "refused"},
		{"constructor in a schema", "/tools/0/input_schema/properties/constructor", map[string]any{}, "", "refused"},
		{"prototype in a schema", "/config_schema/properties/prototype", map[string]any{}, "", "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.pointer
			if want == "" {
				want = c.at
			}
			_, err := ParseManifest(edited(t, c.at, c.value))
			wantProblem(t, err, want, c.message)
		})
	}
}

func wantProblem(t *testing.T, err error, pointer, message string) {
	t.Helper()
	if err == nil {
		t.Fatalf("accepted, want a problem at %s", pointer)
	}
	all := problemsOf(t, err)
	for _, p := range all {
		if p.Pointer == pointer && strings.Contains(p.Message, message) {
			return
		}
	}
	t.Errorf("want %q at %q, got %+v", message, pointer, all)
}

// TestRefusedDocuments has what no edit of a valid document can make.
func TestRefusedDocuments(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33)
	for _, c := range []struct{ name, doc, pointer, message string }{
		{"empty", "", "", "unexpected end"},
		{"no object", "[]", "", "got a list"},
		{"half a document", `{"schema_version": 1`, "", ""},
		{"two documents", "{} {}", "", "more than one"},
		{"over 256 KiB", `{"a":"` + strings.Repeat("x", 256<<10) + `"}`, "", "limit is 262144"},
		{"nesting over 32", deep, "", "nesting"},
		{"duplicate key", `{"tools":[],"permissions":{"network":false,"network":true}}`, "/permissions/network", "duplicate"},
		{"duplicate key by escape", `{"a":1,"\u0061":2}`, "/a", "duplicate"},
		{"broken UTF-8", "{\"a\":\"\xff\"}", "", "UTF-8"},
		{"half a surrogate pair", `{"a":"\ud800"}`, "", ""},
		{"a key of 300 bytes", `{"` + strings.Repeat("k", 300) + `":[0]}`, "/" + strings.Repeat("k", 299) + "…", "unknown key"},
		{"number with a huge exponent, G19", `{"version":1e999999}`, "/version", "exponent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseManifest([]byte(c.doc))
			wantProblem(t, err, c.pointer, c.message)
		})
	}
}

// TestG21NumbersBeyond2To53: 2⁵³ and 2⁵³+1 have one canonical form, so neither is read.
func TestG21NumbersBeyond2To53(t *testing.T) {
	for _, n := range []string{"9007199254740992", "9007199254740993", "-9007199254740993", "9.007199254740993e15", "1e400"} {
		doc := strings.Replace(sampleManifest, "33554432", n, 1)
		_, err := ParseManifest([]byte(doc))
		wantProblem(t, err, "/entrypoint/limits/memory_bytes", "")
		if !strings.Contains(err.Error(), "2^53") {
			t.Errorf("%s: %v does not say why", n, err)
		}
	}
}

// TestG13ClaimedTrust: nobody is built in or verified because they say so.
func TestG13ClaimedTrust(t *testing.T) {
	for _, level := range []string{"built_in", "verified_publisher"} {
		_, err := ParseManifest(edited(t, "/trust_level", level))
		wantProblem(t, err, "/trust_level", "cannot claim")
	}
	_, err := ParseManifest(edited(t, "/source", map[string]any{"kind": "built_in"}))
	wantProblem(t, err, "/source/kind", "cannot claim")
}

// TestG19Schemas: schemas that grow, refer to themselves or have a hostile pattern.
func TestG19Schemas(t *testing.T) {
	doubling := map[string]any{"l0": map[string]any{"type": "string"}}
	for i := 1; i <= 12; i++ {
		ref := map[string]any{"$ref": fmt.Sprintf("#/$defs/l%d", i-1)}
		doubling[fmt.Sprintf("l%d", i)] = map[string]any{"properties": map[string]any{"a": ref, "b": ref}}
	}
	wide := map[string]any{}
	for i := range 2001 {
		wide[fmt.Sprintf("p%d", i)] = map[string]any{}
	}
	loop := map[string]any{"a": map[string]any{"$ref": "#/$defs/b"}, "b": map[string]any{"$ref": "#/$defs/a"}}
	for _, c := range []struct {
		name    string
		schema  map[string]any
		message string
	}{
		{"doubles at each level", map[string]any{"$ref": "#/$defs/l12", "$defs": doubling}, "2000 nodes"},
		{"2,001 properties", map[string]any{"properties": wide}, "2000 nodes"},
		{"a circle of two", map[string]any{"$ref": "#/$defs/a", "$defs": loop}, "refers to itself"},
		{"a pattern of 2,000 bytes", map[string]any{"pattern": strings.Repeat("a?", 1000)}, "pattern"},
		{"a pattern that grows", map[string]any{"pattern": "((a{0,99}){0,99}){0,99}"}, "pattern"},
		{"a broken pattern", map[string]any{"pattern": "("}, "pattern"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, at := range []string{"/tools/0/input_schema", "/tools/1/output_schema", "/config_schema"} {
				_, err := ParseManifest(edited(t, at, c.schema))
				wantProblem(t, err, at, c.message)
			}
		})
	}
}

// TestLengthsAreCharacters: of texts that people read, so that a script counts like
// another one.
func TestLengthsAreCharacters(t *testing.T) {
	for at, n := range map[string]int{
		"/display_name": 128, "/publisher": 128, "/description": 4096, "/tools/0/description": 4096, "/tools/0/annotations/title": 128, "/dependencies/0/permission_notes": 4096,
	} {
		if _, err := ParseManifest(edited(t, at, strings.Repeat("日", n))); err != nil {
			t.Errorf("%s of %d characters: %v", at, n, err)
		}
	}
}

// TestLongKeyAboveManyValues: each place below a long key carries it in its pointer. A
// small document must not need gigabytes for that.
func TestLongKeyAboveManyValues(t *testing.T) {
	key := strings.Repeat("k", 60_000)
	many := map[string]any{}
	for n := range 5_000 {
		many[strconv.Itoa(n)] = map[string]any{}
	}
	start := time.Now()
	_, err := ParseManifest(edited(t, "/tools/0/input_schema/properties", map[string]any{key: map[string]any{"properties": many}}))
	wantProblem(t, err, "", "keys too long")
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("it took %v", d)
	}
}

// TestDuplicateKeyLine: the second one is the mistake.
func TestDuplicateKeyLine(t *testing.T) {
	_, err := ParseManifest([]byte("{\"schema_version\": 1,\n\"tools\": [],\n\n\"tools\": []}"))
	all := problemsOf(t, err)
	if len(all) != 1 || all[0].Pointer != "/tools" || all[0].Line != 4 {
		t.Errorf("got %+v", all)
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	doc := edited(t, "/version", "no version")
	doc = bytes.Replace(doc, []byte(`"category": "project"`), []byte(`"category": "sport"`), 2)
	doc = bytes.Replace(doc, []byte(`"publisher"`), []byte(`"publischer"`), 1)
	_, err := ParseManifest(doc)
	got := map[string]bool{}
	for _, p := range problemsOf(t, err) {
		got[p.Pointer] = true
		line := lineOf(doc, p)
		if p.Line != line {
			t.Errorf("%s is on line %d, said was %d", p.Pointer, line, p.Line)
		}
	}
	for _, at := range []string{"/version", "/tools/0/category", "/tools/1/category", "/publischer"} {
		if !got[at] {
			t.Errorf("nothing was said about %s: %v", at, err)
		}
	}
}

// lineOf finds the line by the key's text, which is enough for an indented document.
func lineOf(doc []byte, p Problem) int {
	parts := strings.Split(p.Pointer, "/")
	key := `"` + parts[len(parts)-1] + `"`
	n := 1
	if strings.HasPrefix(p.Pointer, "/tools/1") {
		n = 2
	}
	at := -1
	for range n {
		at += 1 + bytes.Index(doc[at+1:], []byte(key+": \""))
	}
	return 1 + bytes.Count(doc[:at], []byte("\n"))
}

func TestProblemsAreBounded(t *testing.T) {
	tools := make([]any, 100)
	for i := range tools {
		tools[i] = map[string]any{"name": strings.Repeat("x", 10_000)}
	}
	_, err := ParseManifest(edited(t, "/tools", tools[:20]))
	if n := len(problemsOf(t, err)); n != maxProblems {
		t.Errorf("%d problems are listed, want %d", n, maxProblems)
	}
	if !strings.Contains(err.Error(), "and 120 more") { // 20 tools with six missing keys and a bad name, less the 20 that are listed
		t.Errorf("the rest is not counted: %.2000s", err.Error())
	}
	if len(err.Error()) > maxProblems*(maxMessage+400) {
		t.Errorf("the message has %d bytes", len(err.Error()))
	}
}

// TestPublishedSchemaAgrees: whatever the published schema refuses, AIR refuses; a
// document that AIR accepts passes the schema. (The schema cannot say all that AIR
// checks, so the other direction does not hold.)
func TestPublishedSchemaAgrees(t *testing.T) {
	text, err := resources.Schema("capability")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate([]byte(sampleManifest)); err != nil {
		t.Errorf("the sample: %v", err)
	}
	files, err := resources.Capabilities()
	if err != nil {
		t.Fatal(err)
	}
	for name, doc := range files {
		if err := s.Validate(doc); err != nil && err.Error() != "/tools: minItems: got 0, want 1" { // one whose tools do not exist yet
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, at := range []string{"/nonsense", "/tools/0/nonsense", "/entrypoint/limits/nonsense", "/permissions/scopes/nonsense"} {
		if s.Validate(edited(t, at, 1)) == nil {
			t.Errorf("the schema accepts %s", at)
		}
	}
}

func TestCanonicalFormAndHash(t *testing.T) {
	a, err := ParseManifest([]byte(sampleManifest))
	if err != nil {
		t.Fatal(err)
	}
	reordered := edited(t, "/version", "1.2.0") // keys sorted, other blanks
	b, err := ParseManifest(reordered)
	if err != nil {
		t.Fatal(err)
	}
	if a.Hash() != b.Hash() || !strings.HasPrefix(a.Hash(), "sha256:") {
		t.Errorf("two spellings have the hashes %s and %s", a.Hash(), b.Hash())
	}
	c, err := ParseManifest(edited(t, "/version", "1.2.1"))
	if err != nil {
		t.Fatal(err)
	}
	if a.Hash() == c.Hash() {
		t.Error("two versions have one hash")
	}
}

func TestDetectors(t *testing.T) {
	for detector, ok := range map[string]bool{
		"binary:git": true, "binary:git>=2.30": true, "binary:g++>=12": true, "binary:../git": false, "binary:git>=x": false,
		"binary:git; id": false, "binary:": false, "apt:libc6-dev": true, "apt:Lib": false, "npm:@scope/pkg": true, "npm:a b": false,
		"go:example.com/x/y": true, "go:/abs": false, "env:HOME": true, "env:1X": false, "display:x11": true, "display:wayland": true,
		"display:vnc": false, "service:localhost:5432": true, "service:127.0.0.1:80": true, "service:[::1]:80": true,
		"service:example.com:80": false, "service:0.0.0.0:80": false, "service:localhost:0": false, "service:localhost": false, "": false, "git": false,
	} {
		if got := DetectorMistake(detector) == ""; got != ok {
			t.Errorf("%q: accepted is %v, want %v", detector, got, ok)
		}
	}
}

// Commands in a scope are patterns of the words of one command.
func TestCommandScopes(t *testing.T) {
	for pattern, ok := range map[string]bool{
		"go test **": true, "git commit -m *": true, "find . -exec cat {} \\;": true, "echo '$x'": true,
		"go test && rm x": false, "echo $HOME": false, "echo \"x\"": false, "echo 'x": false, "a [": false, "": false, " ": false,
	} {
		if got := badPattern(permission.Run)(pattern) == ""; got != ok {
			t.Errorf("%q: accepted is %v, want %v", pattern, got, ok)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for endpoint, ok := range map[string]bool{
		"https://api.example.com:443": true, "http://localhost:8080": true, "https://*.example.com:443": true, "https://[::1]:443": true,
		"https://api.example.com": false, "https://api.example.com:443/x": false, "https://u@api.example.com:443": false, "ftp://a.b:21": false,
		"https://*:443": false, "https://*.com:443": false, "https://a.*.com:443": false, "api.example.com:443": false, "https://a.b:70000": false,
		"https://A.b:443?x": false, "": false,
		"https://0x7f.1:443": false, "https://b\u00fccher.example:443": false, "https://*.127.0.0.1:443": false, "https://a.b:0443": false,
	} {
		if got := badEndpoint(endpoint) == ""; got != ok {
			t.Errorf("%q: accepted is %v, want %v", endpoint, got, ok)
		}
	}
}
