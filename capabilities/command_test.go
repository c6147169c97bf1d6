package capabilities

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/wasmtests"
)

// TestCommandBundle puts a program and a guest of air.v1 beside manifests of either ABI.
func TestCommandBundle(t *testing.T) {
	program, library := string(wasmtests.Module(t, "guests/c/command")), string(minimalModule)
	for _, c := range []struct {
		abi, module string
		refused     string // what the error says
	}{
		{"wasi.command", program, ""},
		{"air.v1", library, ""},
		{"air.v1", program, "is a WASI command"},
		{"wasi.command", library, "is no WASI command"},
		{"wasi.command", string(wasmtests.Module(t, "hostile/commandtools")), `"tool_call" from "air_v1"`},
	} {
		dir := writeFiles(t, map[string]string{
			"capability.json": string(edited(t, "/entrypoint/abi", c.abi)), "module.wasm": c.module,
		})
		b, err := OpenDir(dir)
		if c.refused != "" {
			wantFault(t, err, fault.InvalidInput, "bad_module", c.refused)
		} else if err != nil || b.Manifest.Entrypoint.ABI != hostabi.ABI(c.abi) {
			t.Errorf("%s: %v", c.abi, err)
		}
	}
}

// TestProgramAsksInVain: of a program nothing is shown that it could do with the
// permissions of its manifest.
func TestProgramAsksInVain(t *testing.T) {
	b := openSample(t)
	b.Manifest.Entrypoint.ABI = hostabi.WASICommand
	d := Disclose(Found{Bundle: b, Source: Source{Kind: "local_path", Path: "/x"}, TrustLevel: UserInstalled}, nil)
	var out strings.Builder
	if err := d.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  runs as      wasi.command  (a program: what its manifest asks for counts for nothing)\n",
		"      may: only compute on its input\n",
		"\nIt may:\n  - only compute on its input\n\nIt may not, whatever it tries:\n  - read files of the project\n",
		"  - call any tool\n",
		"output 4 MiB, 4 at once\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if got := strings.Join(b.Manifest.Useless(), " "); got != "read_project" {
		t.Errorf("useless: %s", got)
	}
	b.Manifest.Entrypoint.ABI = hostabi.AirV1
	if got := b.Manifest.Useless(); got != nil {
		t.Errorf("a guest of air.v1 has %v", got)
	}
}

// TestModuleCarriesItsABI follows the ABI from the exports of a bare module to the engine.
func TestModuleCarriesItsABI(t *testing.T) {
	for name, want := range map[string]hostabi.ABI{"guests/c/command": hostabi.WASICommand, "guests/echo": hostabi.AirV1, "guests/command-both": hostabi.AirV1} {
		b, err := BareModule(filepath.Join(writeFiles(t, map[string]string{"x.wasm": string(wasmtests.Module(t, name))}), "x.wasm"))
		if err != nil {
			t.Fatal(err)
		}
		var got Module
		one := Single{Bundle: b, NewImplementation: func(m Module) runtime.Implementation { got = m; return nil }}
		if _, err := one.Tool(t.Context(), "local.go"); err != nil || got.ABI != want {
			t.Errorf("%s: %q, %v, want %q", name, got.ABI, err, want)
		}
	}
}
