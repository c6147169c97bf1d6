package wasmbin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/wasmtests"
)

// A module of the tests, section by section: one type (i32) -> (i32), one function, one
// page, the two exports, a body.
type parts struct {
	types, imports, functions, tables, memories, globals, exports, start, elements, dataCount, code, data, tail []byte
}

func good() parts {
	return parts{
		types:     vec([]byte{0x60, 1, 0x7f, 1, 0x7f}, []byte{0x60, 0, 0}),
		functions: vec([]byte{0}),
		memories:  vec([]byte{0, 1}),
		exports:   vec(exp("memory", 2, 0), exp("air_call", 0, 0)),
		code:      vec([]byte{4, 0, 0x41, 0, 0x0b}),
	}
}

func (p parts) module() []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range []struct {
		id   byte
		body []byte
	}{{1, p.types}, {2, p.imports}, {3, p.functions}, {4, p.tables}, {5, p.memories}, {6, p.globals}, {7, p.exports}, {8, p.start}, {9, p.elements}, {12, p.dataCount}, {10, p.code}, {11, p.data}} {
		if s.body != nil {
			b = append(b, wasmtests.Section(s.id, s.body)...)
		}
	}
	return append(b, p.tail...)
}

func vec(items ...[]byte) []byte { return wasmtests.Vector(items...) }

func name(s string) []byte { return append([]byte{byte(len(s))}, s...) }

func exp(s string, kind, index byte) []byte { return append(name(s), kind, index) }

// body encodes a function's body with its length.
func body(code ...byte) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(code))), code...)
}

func imp(module, field string, kind byte, description ...byte) []byte {
	return append(append(name(module), name(field)...), append([]byte{kind}, description...)...)
}

func TestMinPages(t *testing.T) {
	p := good()
	p.memories = vec([]byte{1, 0x83, 0x02, 0x80, 0x04})
	if pages, err := Prove(p.module(), hostabi.AirV1); pages != 259 || err != nil {
		t.Errorf("%d pages, %v", pages, err)
	}
}

func TestAccepts(t *testing.T) {
	tests := map[string]func(*parts){
		"as it is":         func(*parts) {},
		"padded numbers":   func(p *parts) { p.functions = []byte{0x81, 0x80, 0x80, 0x80, 0x00, 0x80, 0x00} }, // G17: valid, and linkers write them
		"a custom section": func(p *parts) { p.tail = wasmtests.Section(0, append(name("producers"), 1, 2, 3)) },
		"a maximum":        func(p *parts) { p.memories = vec([]byte{1, 1, 0x80, 0x80, 0x04}) },
		"a table":          func(p *parts) { p.tables = vec([]byte{0x70, 0, 10}) },
		"an import twice": func(p *parts) {
			p.imports = vec(read(), read())
			p.exports = vec(exp("memory", 2, 0), exp("air_call", 0, 2))
			p.types = readTypes()
		},
		"an unknown export": func(p *parts) { p.exports = append([]byte{3}, append(p.exports[1:], exp("f", 0, 0)...)...) },
		"_initialize": func(p *parts) {
			p.functions = vec([]byte{0}, []byte{1})
			p.code = vec([]byte{4, 0, 0x41, 0, 0x0b}, []byte{2, 0, 0x0b})
			p.exports = vec(exp("memory", 2, 0), exp("air_call", 0, 0), exp("_initialize", 0, 1))
		},
	}
	for what, change := range tests {
		p := good()
		change(&p)
		if _, err := Prove(p.module(), hostabi.AirV1); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// read imports input_read, whose type is the third of readTypes.
func read() []byte { return imp(hostabi.Module, "input_read", 0, 2) }

func readTypes() []byte {
	return vec([]byte{0x60, 1, 0x7f, 1, 0x7f}, []byte{0x60, 0, 0}, []byte{0x60, 3, 0x7f, 0x7f, 0x7f, 1, 0x7f})
}

func TestRefuses(t *testing.T) {
	tests := []struct {
		what   string
		change func(*parts)
		code   string
		text   string
	}{
		{"G7 env", func(p *parts) { p.imports = vec(imp("env", "system", 0, 0)) }, "forbidden_import", `function "system" from "env"`},
		{"G7 another ABI", func(p *parts) { p.imports = vec(imp("air_v2", "tool_call", 0, 0)) }, "forbidden_import", `from "air_v2"`},
		{"G7 another WASI", func(p *parts) { p.imports = vec(imp("wasi_unstable", "fd_write", 0, 0)) }, "forbidden_import", `from "wasi_unstable"`},
		{"G7 an unknown function", func(p *parts) { p.imports = vec(imp(hostabi.Module, "exec", 0, 0)) }, "forbidden_import", `"exec"`},
		{"G7 an unknown WASI function", func(p *parts) { p.imports = vec(imp(hostabi.WASIModule, "sock_open", 0, 0)) }, "forbidden_import", `"sock_open"`},
		{"G7 a wrong signature", func(p *parts) { p.imports = vec(imp(hostabi.Module, "tool_call", 0, 0)) }, "forbidden_import", "(i32) -> (i32), it is (i32, i32, i32, i32) -> (i32)"},
		{"imported memory", func(p *parts) { p.imports = vec(imp(hostabi.Module, "memory", 2, 0, 1)) }, "forbidden_import", "memory"},
		{"imported table", func(p *parts) { p.imports = vec(imp(hostabi.Module, "t", 1, 0x70, 0, 1)) }, "forbidden_import", "table"},
		{"imported global", func(p *parts) { p.imports = vec(imp(hostabi.Module, "g", 3, 0x7f, 0)) }, "forbidden_import", "global"},
		{"imported tag", func(p *parts) { p.imports = vec(imp(hostabi.Module, "t", 4, 0, 0)) }, "forbidden_import", "tag"},
		{"G8 no memory", func(p *parts) { p.memories = nil }, "forbidden_export", `"memory"`},
		{"G8 two memories", func(p *parts) { p.memories = vec([]byte{0, 1}, []byte{0, 1}) }, "unsupported_module", "2 memories"},
		{"G8 memory not exported", func(p *parts) { p.exports = vec(exp("air_call", 0, 0)) }, "forbidden_export", `"memory"`},
		{"G8 memory is a function", func(p *parts) { p.exports = vec(exp("memory", 0, 0), exp("air_call", 0, 0)) }, "forbidden_export", `"memory"`},
		{"G8 no air_call", func(p *parts) { p.exports = vec(exp("memory", 2, 0)) }, "forbidden_export", "air_call (i32) -> (i32)"},
		{"G8 air_call is a memory", func(p *parts) { p.exports = vec(exp("memory", 2, 0), exp("air_call", 2, 0)) }, "forbidden_export", "air_call"},
		{"G8 air_call of another type", func(p *parts) { p.types = vec([]byte{0x60, 1, 0x7e, 1, 0x7f}) }, "forbidden_export", "not as (i64) -> (i32)"},
		{"G8 _initialize with a parameter", func(p *parts) { p.exports = append([]byte{3}, append(p.exports[1:], exp("_initialize", 0, 0)...)...) }, "forbidden_export", "_initialize as () -> ()"},
		{"G8 air_call out of range", func(p *parts) { p.exports = vec(exp("memory", 2, 0), exp("air_call", 0, 9)) }, "invalid_module", "function 9"},
		{"an export that is AIR's own", func(p *parts) { p.exports = vec(exp("memory", 2, 0), exp("air_call", 0, 0), exp("air.x", 0, 0)) }, "forbidden_export", `"air.x"`},
		{"an export of a tag", func(p *parts) { p.exports = vec(exp("memory", 2, 0), exp("air_call", 0, 0), exp("x", 4, 0)) }, "invalid_module", "kind 4"},
		{"a command", func(p *parts) { p.exports = vec(exp("memory", 2, 0), exp("_start", 0, 0)) }, "forbidden_export", "WASI command"},
		{"threads", func(p *parts) { p.memories = vec([]byte{3, 1, 2}) }, "unsupported_module", "shared memory"},
		{"memory64", func(p *parts) { p.memories = vec([]byte{4, 1}) }, "unsupported_module", "64-bit memory"},
		{"exceptions", func(p *parts) { p.tail = wasmtests.Section(13, vec([]byte{0, 0})) }, "unsupported_module", "exceptions"},
		{"garbage collection", func(p *parts) { p.types = vec([]byte{0x5f, 0}) }, "unsupported_module", "garbage collection"},
		{"a memory above 4 GiB", func(p *parts) { p.memories = vec([]byte{0, 0x81, 0x80, 0x04}) }, "invalid_module", "65537"},
		{"a maximum of a table below its minimum", func(p *parts) { p.tables = vec([]byte{0x70, 1, 2, 1}) }, "invalid_module", "2 to 1"},
		{"a maximum below the minimum", func(p *parts) { p.memories = vec([]byte{1, 2, 1}) }, "invalid_module", "2 to 1"},
		{"G2 a table of 4 billion", func(p *parts) { p.tables = vec([]byte{0x70, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}) }, "module_too_complex", "table entries"},
		{"two exports of one name", func(p *parts) { p.exports = vec(exp("memory", 2, 0), exp("air_call", 0, 0), exp("air_call", 0, 0)) }, "invalid_module", "two exports"},
		{"a name that is not UTF-8", func(p *parts) { p.exports = vec(exp("memory", 2, 0), exp("\xff", 0, 0)) }, "invalid_module", "UTF-8"},
		{"bodies missing", func(p *parts) { p.code = nil }, "invalid_module", "1 functions with 0 bodies"},
		{"a function type out of range", func(p *parts) { p.functions = vec([]byte{7}) }, "invalid_module", "type 7 of 2"},
		{"start with a parameter", func(p *parts) { p.start = []byte{0} }, "invalid_module", "start function 0"},
		{"start out of range", func(p *parts) { p.start = []byte{5} }, "invalid_module", "start function 5"},
		{"a repeated section", func(p *parts) { p.tail = wasmtests.Section(10, p.code) }, "invalid_module", "repeated"},
		{"an unknown section", func(p *parts) { p.tail = []byte{77, 0} }, "invalid_module", "unknown section 77"},
		{"a section past the end", func(p *parts) { p.tail = []byte{0, 200, 1} }, "invalid_module", "bytes wanted"},
		{"bytes behind a section's content", func(p *parts) { p.memories = append(p.memories, 0) }, "invalid_module", "too many"},
		{"G17 a number of six bytes", func(p *parts) { p.functions = []byte{0x81, 0x80, 0x80, 0x80, 0x80, 0x00, 0} }, "invalid_module", "32 bits"},
		{"G17 a number of 33 bits", func(p *parts) { p.functions = []byte{0x81, 0x80, 0x80, 0x80, 0x10, 0} }, "invalid_module", "32 bits"},
		{"a count larger than what follows", func(p *parts) { p.types = []byte{0xff, 0x7f} }, "invalid_module", "types in 0 bytes"},
		{"a value type of another proposal", func(p *parts) { p.types = vec([]byte{0x60, 1, 0x64, 0}) }, "unsupported_module", "type 0x64"},
		{"a custom section without a name", func(p *parts) { p.tail = []byte{0, 0} }, "invalid_module", "custom section"},
		{"a custom section whose name is not UTF-8", func(p *parts) { p.tail = []byte{0, 2, 1, 0xff} }, "invalid_module", "UTF-8"},
		{"an unknown value type", func(p *parts) { p.types = vec([]byte{0x60, 1, 0x55, 0}) }, "invalid_module", "value type 0x55"},
		{"1,001 parameters", func(p *parts) { p.types = vec(append([]byte{0x60, 0xe9, 0x07}, bytes.Repeat([]byte{0x7f}, 1001)...)) }, "module_too_complex", "1001 parameters"},
		{"a function of 8,000,000 bytes", func(p *parts) { p.code = vec(body(make([]byte, 8_000_000)...)) }, "module_too_complex", "8000000 bytes"},
		{"G10 50,001 locals", func(p *parts) { p.code = vec([]byte{8, 1, 0xd1, 0x86, 0x03, 0x7f, 0x41, 0, 0x0b}) }, "module_too_complex", "50001 locals"},
	}
	for _, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			p := good()
			test.change(&p)
			_, err := Prove(p.module(), hostabi.AirV1)
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != fault.InvalidInput || e.Code != test.code || !strings.Contains(e.Message, test.text) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNotWASM(t *testing.T) {
	tests := map[string]string{
		"":                           "not_wasm",
		"\x7fELF":                    "not_wasm",
		"\x00asm":                    "not_wasm",
		"\x00asm\x02\x00\x00\x00":    "not_wasm",
		"\x00asm\x0d\x00\x01\x00abc": "component",
		"\x00asm\x01\x00\x00\x00":    "forbidden_export",
		string(make([]byte, hostabi.MaxModule+1)): "module_too_large",
	}
	for module, code := range tests {
		var e *fault.Error
		if _, err := Prove([]byte(module), hostabi.AirV1); !errors.As(err, &e) || e.Code != code {
			t.Errorf("%.20q: %v", module, err)
		}
	}
}

// TestHostile has the modules that no worker may see: they are not proven, or want more
// memory than there is for any guest.
func TestHostile(t *testing.T) {
	for _, c := range wasmtests.Hostile() {
		pages, err := Prove(c.Module(t), hostabi.AirV1)
		stopped := err != nil || int64(pages)*hostabi.PageSize > hostabi.MaxMemory
		if stopped != (c.Phase == wasmtests.Proof) {
			t.Errorf("%s: phase %s, and the proof says %d pages, %v", c.Name, c.Phase, pages, err)
		}
	}
}

// TestEveryCut proves every prefix of a module: an error, never a panic.
func TestEveryCut(t *testing.T) {
	module := wasmtests.Module(t, "guests/puppet")
	for i := range len(module) {
		cut := module[:i]
		if _, err := Prove(cut, hostabi.AirV1); err == nil && !endsBetweenCustomSections(module, i) {
			t.Errorf("%d of %d bytes are accepted", i, len(module))
		}
	}
}

// endsBetweenCustomSections allows for cutting off the name section as a whole, or the
// data section, which no count announces.
func endsBetweenCustomSections(module []byte, at int) bool {
	r := &reader{data: module, pos: 8}
	for r.left() > 0 {
		if r.pos == at {
			return true
		}
		r.byte()
		r.take(uint64(r.u32()))
	}
	return false
}

func FuzzProve(f *testing.F) {
	f.Add(good().module())
	for _, name := range []string{"guests/puppet", "guests/early", "guests/keeper-table", "guests/command-both", "hostile/table", "hostile/system", "hostile/command"} {
		f.Add(wasmtests.Module(f, name))
	}
	f.Add(wasmtests.Locals())
	f.Fuzz(func(t *testing.T, module []byte) {
		pages, err := Prove(module, ABIOf(module))
		if pages > maxPages || err != nil && pages != 0 {
			t.Errorf("%d pages, %v", pages, err)
		}
		var e *fault.Error
		if err != nil && (!errors.As(err, &e) || e.Kind != fault.InvalidInput) {
			t.Errorf("not of our kinds: %v", err)
		}
	})
}

func BenchmarkProve(b *testing.B) {
	module := wasmtests.BranchTable()
	for b.Loop() {
		if _, err := Prove(module, hostabi.AirV1); err != nil {
			b.Fatal(err)
		}
	}
}
