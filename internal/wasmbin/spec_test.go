package wasmbin

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// specCommand is one line of a test of the specification.
type specCommand struct {
	Type, Filename, Text string
	ModuleType           string `json:"module_type"`
	Line                 int
}

// specTests calls each for every binary module of WebAssembly 2.0's own tests, which
// wazero carries.
func specTests(t *testing.T, each func(t *testing.T, c specCommand, module []byte)) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(strings.TrimSpace(string(dir)), "internal/integration_test/spectest/v2/testdata")
	files, err := filepath.Glob(filepath.Join(base, "*.json"))
	if err != nil || len(files) < 80 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var test struct{ Commands []specCommand }
			if err := json.Unmarshal(text, &test); err != nil {
				t.Fatal(err)
			}
			for _, c := range test.Commands {
				if c.Filename == "" || c.ModuleType == "text" {
					continue
				}
				module, err := os.ReadFile(filepath.Join(base, c.Filename))
				if err != nil {
					t.Fatal(err)
				}
				each(t, c, module)
			}
		})
	}
}

func TestSpecification(t *testing.T) {
	modules, malformed := 0, 0
	specTests(t, func(t *testing.T, c specCommand, module []byte) {
		switch c.Type {
		case "module", "assert_uninstantiable", "assert_unlinkable":
			modules++
			once := recode(t, module)
			if !bytes.Equal(recode(t, once), once) {
				t.Errorf("line %d: rewriting again gives another module", c.Line)
			}
		case "assert_malformed":
			malformed++
			if _, err := Rewrite(module, Clamp{}); err == nil {
				t.Errorf("line %d: accepted, though malformed: %s", c.Line, c.Text)
			}
		}
	})
	if modules < 1000 || malformed < 50 {
		t.Errorf("only %d modules and %d malformed ones are in the tests", modules, malformed)
	}
}
