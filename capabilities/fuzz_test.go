package capabilities

import (
	"testing"

	"github.com/aircoding/air/internal/fault"
)

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(sampleManifest))
	f.Add([]byte(`{"tools":[{"input_schema":{"$ref":"#"}}],"permissions":{"scopes":{"read":["["]}}}`))
	f.Add([]byte(`{"a":"\ud800","__proto__":9007199254740993}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		m, err := ParseManifest(doc)
		if err != nil {
			if k := fault.From(err).Kind; k != fault.InvalidInput {
				t.Errorf("refused as %s: %v", k, err)
			}
			return
		}
		again, err := ParseManifest(m.Canonical())
		if err != nil || again.Hash() != m.Hash() {
			t.Errorf("the canonical form is read as something else: %v", err)
		}
	})
}

func FuzzParseCapabilityMD(f *testing.F) {
	f.Add([]byte(frontMatter + "help"))
	f.Add([]byte("---\na: &b [*b]\n---\n"))
	f.Add([]byte("---\n? [a]\n: b\n--- \n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, _, err := parseCapabilityMD(text)
		if err != nil {
			if k := fault.From(err).Kind; k != fault.InvalidInput {
				t.Errorf("refused as %s: %v", k, err)
			}
			return
		}
		if _, err := ParseManifest(m.Canonical()); err != nil {
			t.Errorf("the same manifest as JSON is refused: %v", err)
		}
	})
}
