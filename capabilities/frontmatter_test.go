package capabilities

import (
	"strings"
	"testing"
)

const frontMatter = `---
schema_version: 1
capability_id: acme-csv
display_name: Acme CSV
version: 1.2.0
description: Summarises CSV files.
publisher: Acme
source: {kind: git, url: "https://example.com/acme/csv.git", ref: v1.2.0}
trust_level: untrusted
tools:
  - name: acme-csv.summarize
    version: 1
    category: project
    description: Summarise a CSV file.
    input_schema: {type: object, properties: {path: {type: string}}, required: [path]}
    output_schema: {type: object}
    permissions: {read_paths: true}
    annotations: {title: Summarise, read_only: true}
  - name: acme-csv.table.count
    version: 2
    category: project
    description: Count rows of text.
    input_schema: {type: object}
    output_schema: {type: object}
    permissions: {}
dependencies:
  - dependency_id: git
    kind: binary
    required: true
    detector: "binary:git>=2.30"
    installer: {strategy: manual, commands: [apt-get install git]}
permissions: {read_project: true, scopes: {read: ["data/**"]}, notes: [reads what you name]}
events: {produced: [capability.acme-csv.row_done], consumed: [tool.completed]}
artifact_types: [report]
config_schema:
  type: object
  properties:
    separator: {type: string, maxLength: 1, default: ","}
    strict: {type: boolean}
  additionalProperties: false
entrypoint: {kind: wasm, module: module.wasm, abi: air.v1, limits: {memory_bytes: 33554432}}
---
`

// TestBothFormsAreOneManifest: the form that a manifest is written in leaves no trace.
func TestBothFormsAreOneManifest(t *testing.T) {
	fromJSON, err := ParseManifest([]byte(sampleManifest))
	if err != nil {
		t.Fatal(err)
	}
	for _, ending := range []string{"\n", "\r\n"} {
		text := strings.ReplaceAll(frontMatter+"# Help\n---\nmore\n", "\n", ending)
		fromYAML, help, err := parseCapabilityMD([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if fromYAML.Hash() != fromJSON.Hash() {
			t.Errorf("the two forms differ:\n%s\n%s", fromJSON.Canonical(), fromYAML.Canonical())
		}
		if want := strings.ReplaceAll("# Help\n---\nmore\n", "\n", ending); string(help) != want {
			t.Errorf("help is %q, want %q", help, want)
		}
	}
}

func TestCapabilityMDRefusals(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(frontMatter, old, new, 1) }
	for _, c := range []struct {
		name, text, pointer, message string
		line                         int
	}{
		{"no front matter", "# Title\n", "", "does not begin", 0},
		{"front matter without end", "---\na: 1\n", "", "does not begin", 0},
		{"empty", "", "", "does not begin", 0},
		{"empty front matter", "---\n---\n", "", "got null", 0},
		{"unknown key", change("publisher:", "publischer:"), "/publischer", "did you mean", 7},
		{"value of a tool", change("category: project", "category: sport"), "/tools/0/category", "none of", 13},
		{"duplicate key", change("version: 1.2.0", "version: 1.2.0\nversion: 1.3.0"), "", "duplicate key", 6},
		{"alias", change("permissions: {}", "permissions: *x"), "", "", 0},
		{"anchor", change("permissions: {}", "permissions: &x {}"), "/tools/1/permissions", "anchors", 25},
		{"broken YAML", change("tools:\n", "tools: [\n"), "", "", 0},
		{"number that is a version", change("version: 1.2.0", "version: 1.2"), "/version", "want a string", 5},
		{"2^53, G21", change("33554432", "9007199254740993"), "", "2^53", 0},
		{"key of 300 bytes", "---\n" + strings.Repeat("k", 300) + ": [0]\n---\n", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := parseCapabilityMD([]byte(c.text))
			if err == nil {
				t.Fatal("accepted")
			}
			for _, p := range problemsOf(t, err) {
				if strings.Contains(p.Message, c.message) && (c.pointer == "" || p.Pointer == c.pointer) {
					if c.line != 0 && p.Line != c.line {
						t.Errorf("line %d, want %d: %v", p.Line, c.line, err)
					}
					return
				}
			}
			t.Errorf("want %q at %q, got %v", c.message, c.pointer, err)
		})
	}
}
