package wasmbin

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/aircoding/air/wasmtests"
)

// specCommand is one line of a test of the specification.
type specCommand struct {
	Type, Filename, Text string
	ModuleType           string `json:"module_type"`
	Line                 int
}

func TestSpecification(t *testing.T) {
	modules, malformed := 0, 0
	for _, script := range wasmtests.Specification[specCommand](t, "v2") {
		for _, c := range script.Commands {
			if c.Filename == "" || c.ModuleType == "text" {
				continue
			}
			where := filepath.Base(script.Path)
			module, err := os.ReadFile(filepath.Join(filepath.Dir(script.Path), c.Filename))
			if err != nil {
				t.Fatal(err)
			}
			switch c.Type {
			case "module", "assert_uninstantiable", "assert_unlinkable":
				modules++
				if once := rewritten(t, module); !bytes.Equal(rewritten(t, once), once) {
					t.Errorf("%s:%d: rewriting again gives another module", where, c.Line)
				}
			case "assert_malformed":
				malformed++
				if _, err := Rewrite(module, Clamp{}); err == nil {
					t.Errorf("%s:%d: accepted, though malformed: %s", where, c.Line, c.Text)
				}
			}
		}
	}
	if modules < 1000 || malformed < 50 {
		t.Errorf("only %d modules and %d malformed ones are in the tests", modules, malformed)
	}
}
