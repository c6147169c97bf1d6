package event

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestReferenceOfEventsIsTrue holds docs/events.md against the built-in types, which
// are read from the source so that none is forgotten here.
func TestReferenceOfEventsIsTrue(t *testing.T) {
	source, err := os.ReadFile("event.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	types := submatches(`(?m)^\t\w+ += "([a-z_]+\.[a-z_.]+)"$`, source)
	if len(types) <= len(durable) {
		t.Fatalf("found only the types %q", types)
	}
	named := submatches("`([a-z_.]+)`", page)
	for _, eventType := range types {
		if !slices.Contains(named, eventType) {
			t.Errorf("docs/events.md does not name %s", eventType)
		}
	}
	kept := submatches("(?m)^\\| `([a-z_.]+)`", page) // the rows of its table
	slices.Sort(kept)
	if want := slices.Sorted(slices.Values(durable)); !slices.Equal(kept, want) {
		t.Errorf("docs/events.md lists as kept %q, want %q", kept, want)
	}
}

func submatches(pattern string, text []byte) (all []string) {
	for _, match := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
		all = append(all, string(match[1]))
	}
	return all
}
