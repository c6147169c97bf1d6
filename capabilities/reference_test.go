package capabilities

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/resources"
)

// TestManifestReference holds docs/manifest.md against the schema, the parser and the
// names that are reserved.
func TestManifestReference(t *testing.T) {
	text, err := os.ReadFile("../docs/manifest.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	schemaText, err := resources.Schema("capability")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(schemaText, &schema); err != nil {
		t.Fatal(err)
	}
	words := schemaWords(schema)
	if len(words) < 80 {
		t.Fatalf("the schema has only the words %q", words)
	}
	words = slices.Sorted(slices.Values(slices.Concat(words, categories, reserved)))
	for _, word := range slices.Compact(words) {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("docs/manifest.md does not name `%s`", word)
		}
	}
	checkExamples(t, page, schema["properties"].(map[string]any))
}

// schemaWords are the names of all properties of a schema and the texts that a value
// is chosen from.
func schemaWords(node any) (words []string) {
	switch node := node.(type) {
	case []any:
		for _, child := range node {
			words = append(words, schemaWords(child)...)
		}
	case map[string]any:
		for key, child := range node {
			words = append(append(words, ownWords(key, child)...), schemaWords(child)...)
		}
	}
	return words
}

// ownWords are those that a keyword of a schema brings itself.
func ownWords(key string, value any) (words []string) {
	switch value := value.(type) {
	case map[string]any:
		if key == "properties" {
			words = slices.Collect(maps.Keys(value))
		}
	case []any:
		for _, choice := range value {
			if text, ok := choice.(string); ok && key == "enum" {
				words = append(words, text)
			}
		}
	case string:
		if key == "const" {
			words = []string{value}
		}
	}
	return words
}

var fenced = regexp.MustCompile("(?ms)^```(json|markdown)\n(.*?)^```$")

func checkExamples(t *testing.T, page string, properties map[string]any) {
	t.Helper()
	forms := map[string]int{}
	for _, block := range fenced.FindAllStringSubmatch(page, -1) {
		form, text := block[1], []byte(block[2])
		forms[form]++
		if form == "markdown" {
			if _, help, err := parseCapabilityMD(text); err != nil || len(help) == 0 {
				t.Errorf("the example of CAPABILITY.md: %v, help %q", err, help)
			}
			continue
		}
		m, err := ParseManifest(text)
		if err != nil {
			t.Errorf("the example: %v", err)
			continue
		}
		var given map[string]any
		if err := json.Unmarshal(m.Canonical(), &given); err != nil {
			t.Fatal(err)
		}
		for name := range properties {
			if given[name] == nil {
				t.Errorf("the example, which has every field, lacks %s", name)
			}
		}
	}
	if forms["json"] != 1 || forms["markdown"] != 1 {
		t.Errorf("examples: got %v, want one of each form", forms)
	}
}
