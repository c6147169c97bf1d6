package capabilities

import (
	"path/filepath"
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
