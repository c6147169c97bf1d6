package capabilities

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/aircoding/air/internal/fault"
)

// minimalModule is (module (memory (export "memory") 1)
// (func (export "air_call") (param i32) (result i32) i32.const 0)), section by section.
var minimalModule = []byte("\x00asm\x01\x00\x00\x00" +
	"\x01\x06\x01\x60\x01\x7f\x01\x7f" + // type 0: (i32) -> i32
	"\x03\x02\x01\x00" + // one function of type 0
	"\x05\x03\x01\x00\x01" + // one memory, one page
	"\x07\x15\x02\x06memory\x02\x00\x08air_call\x00\x00" +
	"\x0a\x06\x01\x04\x00\x41\x00\x0b") // its code: i32.const 0, end

const sampleManifest = `{
  "schema_version": 1,
  "capability_id": "acme-csv",
  "display_name": "Acme CSV",
  "version": "1.2.0",
  "description": "Summarises CSV files.",
  "publisher": "Acme",
  "source": { "kind": "git", "url": "https://example.com/acme/csv.git", "ref": "v1.2.0" },
  "trust_level": "untrusted",
  "tools": [
    {
      "name": "acme-csv.summarize",
      "version": 1,
      "category": "project",
      "description": "Summarise a CSV file.",
      "input_schema": { "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] },
      "output_schema": { "type": "object" },
      "permissions": { "read_paths": true },
      "annotations": { "title": "Summarise", "read_only": true }
    },
    {
      "name": "acme-csv.table.count",
      "version": 2,
      "category": "project",
      "description": "Count rows of text.",
      "input_schema": { "type": "object" },
      "output_schema": { "type": "object" },
      "permissions": {}
    }
  ],
  "dependencies": [
    { "dependency_id": "git", "kind": "binary", "required": true, "detector": "binary:git>=2.30",
      "installer": { "strategy": "manual", "commands": ["apt-get install git"] } }
  ],
  "permissions": { "read_project": true, "scopes": { "read": ["data/**"] }, "notes": ["reads what you name"] },
  "events": { "produced": ["capability.acme-csv.row_done"], "consumed": ["tool.completed"] },
  "artifact_types": ["report"],
  "config_schema": {
    "type": "object",
    "properties": { "separator": { "type": "string", "maxLength": 1, "default": "," }, "strict": { "type": "boolean" } },
    "additionalProperties": false
  },
  "entrypoint": { "kind": "wasm", "module": "module.wasm", "abi": "air.v1", "limits": { "memory_bytes": 33554432 } }
}`

// edited is the sample manifest with one value put in place; nil removes it.
func edited(t testing.TB, pointer string, value any) []byte {
	t.Helper()
	var tree any
	if err := json.Unmarshal([]byte(sampleManifest), &tree); err != nil {
		t.Fatal(err)
	}
	doc, err := json.MarshalIndent(put(tree, strings.Split(pointer, "/")[1:], value), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func put(tree any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	switch parent := tree.(type) {
	case map[string]any:
		if len(path) == 1 && value == nil {
			delete(parent, path[0])
		} else {
			parent[path[0]] = put(parent[path[0]], path[1:], value)
		}
		return parent
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i > len(parent) {
			return parent
		}
		if i == len(parent) {
			parent = append(parent, nil)
		}
		parent[i] = put(parent[i], path[1:], value)
		return parent
	}
	return put(map[string]any{}, path, value)
}

// writeFiles fills a new folder.
func writeFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	addFiles(t, dir, files)
	return dir
}

func addFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func sampleFiles() map[string]string {
	return map[string]string{
		"capability.json":   sampleManifest,
		"module.wasm":       string(minimalModule),
		"HELP.md":           "# Help\n",
		"schemas/row.json":  `{"type":"object"}`,
		"docs/guide/one.md": "One.\n",
	}
}

func openSample(t testing.TB) *Bundle {
	t.Helper()
	b, err := OpenDir(writeFiles(t, sampleFiles()))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// withVersion is the sample bundle with another version, and so another digest.
func withVersion(t testing.TB, version string) *Bundle {
	t.Helper()
	files := sampleFiles()
	files["capability.json"] = string(edited(t, "/version", version))
	b, err := OpenDir(writeFiles(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// problemsOf returns the problems that an error lists.
func problemsOf(t testing.TB, err error) []Problem {
	t.Helper()
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("want an InvalidError, got %v", err)
	}
	if f := fault.From(err); f.Kind != fault.InvalidInput || f.Code == "" {
		t.Errorf("want kind invalid_input and a code, got %s %q", f.Kind, f.Code)
	}
	return invalid.Problems
}

// wantFault checks kind, code and a part of the message.
func wantFault(t testing.TB, err error, kind fault.Kind, code, part string) {
	t.Helper()
	if err == nil {
		t.Fatalf("want %s %s, got no error", kind, code)
	}
	f := fault.From(err)
	if f.Kind != kind || f.Code != code || !strings.Contains(f.Message, part) {
		t.Errorf("got %s %s %q, want %s %s %q", f.Kind, f.Code, f.Message, kind, code, part)
	}
}
