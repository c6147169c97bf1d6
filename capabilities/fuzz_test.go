package capabilities

import (
	"reflect"
	"strings"
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

// FuzzParseLock: whatever is accepted is written again as the same lock, by the published
// schema.
func FuzzParseLock(f *testing.F) {
	digest := "sha256:" + strings.Repeat("0", 64)
	f.Add([]byte(`{"schema_version":1,"capabilities":{}}`))
	f.Add([]byte(`{"schema_version":1,"capabilities":{"a":{"version":"1","source":{"kind":"git","url":"x"},"reference":"localhost:5000/a:1","digest":"` + digest +
		`","manifest_hash":"` + digest + `","module_sha256":"` + digest[7:] + `","permissions":{"read_project":true,"scopes":{"read":["a/**"]}},"signer":"` + digest + `"}}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		lock, err := parseLock(doc)
		if err != nil {
			return
		}
		text, err := lock.text()
		if fault.Is(err, fault.ResourceExhausted) {
			return // with its indentation it is too large
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckLockText("written", text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		again, err := parseLock(text)
		if err != nil || !reflect.DeepEqual(again, lock) {
			t.Errorf("read again it is %+v, %v, was %+v", again, err, lock)
		}
	})
}
