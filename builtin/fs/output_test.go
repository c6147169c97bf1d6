package fs

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The results have the fields that the manifest promises, and those that are always there
// are required ones.
func TestOutputsMatchTheManifest(t *testing.T) {
	raw, err := os.ReadFile("../../resources/capabilities/core-filesystem.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Tools []struct {
			Name   string
			Output struct {
				Properties map[string]any
				Required   []string
			} `json:"output_schema"`
		}
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	types := map[string]any{
		"fs.list": listOutput{}, "fs.read": readOutput{}, "fs.stat": statOutput{},
		"fs.write": writeOutput{}, "fs.edit": editOutput{}, "fs.patch": patchOutput{},
	}
	if len(manifest.Tools) != len(types) {
		t.Errorf("%d tools", len(manifest.Tools))
	}
	for _, tool := range manifest.Tools {
		var all, always []string
		for field := range reflect.TypeOf(types[tool.Name]).Fields() {
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			all = append(all, name)
			if options == "" {
				always = append(always, name)
			}
		}
		slices.Sort(all)
		if want := slices.Sorted(maps.Keys(tool.Output.Properties)); !slices.Equal(all, want) {
			t.Errorf("%s has %v, its manifest %v", tool.Name, all, want)
		}
		for _, name := range always {
			if !slices.Contains(tool.Output.Required, name) {
				t.Errorf("%s always has %s, its manifest does not say so", tool.Name, name)
			}
		}
	}
}
