package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/builtin/shell"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/backup"
)

// TestReferenceOfToolsIsTrue holds docs/tools.md against the manifests of the built-in tools.
func TestReferenceOfToolsIsTrue(t *testing.T) {
	tools, err := builtins(shell.Place{}, runtime.Workspaces{}, backup.Open(t.TempDir(), backup.Options{}), "")
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(tools, func(a, b *runtime.Tool) int { return strings.Compare(a.Name, b.Name) })
	var b bytes.Buffer
	b.WriteString("# Built-in tools\n\nGenerated: `go test ./cmd/air -run Reference -update` writes it. `air tool show NAME` prints the schemas.\n")
	for _, tool := range tools {
		if err := describeTool(&b, tool); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
	}
	isGenerated(t, "tools.md", b.Bytes())
}

// objectSchema is as much of a JSON Schema as the reference shows.
type objectSchema struct {
	Type        any                      `json:"type"`
	Description string                   `json:"description"`
	Default     any                      `json:"default"`
	Enum        []any                    `json:"enum"`
	Properties  map[string]*objectSchema `json:"properties"`
	Items       *objectSchema            `json:"items"`
	Required    []string                 `json:"required"`
}

func describeTool(b *bytes.Buffer, tool *runtime.Tool) error {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", tool.Name, tool.Description)
	if declared := view(tool).Permissions; len(declared) > 0 {
		fmt.Fprintf(b, "\nPermissions: %s.\n", strings.Join(declared, ", "))
	}
	for _, side := range []struct {
		title string
		text  json.RawMessage
	}{{"input", tool.InputSchema}, {"output", tool.OutputSchema}} {
		var s objectSchema
		if err := json.Unmarshal(side.text, &s); err != nil {
			return err
		}
		if len(s.Properties) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n| %s | type | meaning |\n| --- | --- | --- |\n", side.title)
		s.rows(b, "")
	}
	return nil
}

// rows describes the properties of an object, and of the objects in its lists.
func (s *objectSchema) rows(b *bytes.Buffer, prefix string) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", prefix+name, p.kind(slices.Contains(s.Required, name)), p.meaning())
		p.rows(b, prefix+name+".")
		if p.Items != nil {
			p.Items.rows(b, prefix+name+"[].")
		}
	}
}

func (s *objectSchema) kind(required bool) string {
	kind := fmt.Sprint(s.Type)
	switch {
	case s.Type == nil && s.Enum != nil:
		kind = "string"
	case s.Type == nil:
		kind = "any"
	case kind == "array" && s.Items != nil && s.Items.Type != nil:
		kind = fmt.Sprintf("array of %v", s.Items.Type)
	}
	if required {
		kind += ", required"
	}
	return kind
}

func (s *objectSchema) meaning() string {
	var parts []string
	if s.Description != "" {
		parts = append(parts, s.Description)
	}
	if s.Enum != nil {
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = fmt.Sprintf("`%v`", v)
		}
		parts = append(parts, "One of "+strings.Join(values, ", ")+".")
	}
	if s.Default != nil {
		text, _ := json.Marshal(s.Default) // it came from JSON
		parts = append(parts, "Default `"+string(text)+"`.")
	}
	return strings.ReplaceAll(strings.Join(parts, " "), "|", "\\|")
}
