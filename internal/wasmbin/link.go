package wasmbin

import (
	"fmt"
	"strings"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
)

// Kinds of imports and exports.
const (
	kindFunction = iota
	kindTable
	kindMemory
	kindGlobal
	kindTag
)

var kindNames = []string{"function", "table", "memory", "global", "tag"}

func unsupported(what string) error {
	return fault.New(fault.InvalidInput, "unsupported_module", "module uses %s, which guests may not", what).
		WithHint("build a plain WebAssembly 2.0 core module")
}

func (d *decoder) importSection(r *reader) error {
	for range r.count("imports", maxImports) {
		name := importName{r.name(), r.name()}
		kind := r.byte()
		if r.err != nil {
			return r.err
		}
		if kind != kindFunction {
			return forbiddenImport(name, kindName(kind))
		}
		if err := d.importFunction(name, r.u32()); err != nil {
			return err
		}
	}
	d.imported = len(d.functions)
	return r.err
}

func kindName(kind byte) string {
	if int(kind) < len(kindNames) {
		return kindNames[kind]
	}
	return fmt.Sprintf("kind %d", kind)
}

func (d *decoder) importFunction(name importName, typeIndex uint32) error {
	want, ok := d.allowed[name]
	if !ok {
		return forbiddenImport(name, "function")
	}
	if err := d.addFunction(typeIndex); err != nil {
		return err
	}
	if got := d.types[typeIndex]; got != want {
		return fault.New(fault.InvalidInput, "forbidden_import", "module imports %s.%s as %s, it is %s", name.module, name.name, got, want).
			WithHint("declare the import as in air's SDK")
	}
	return nil
}

func forbiddenImport(name importName, kind string) error {
	e := fault.New(fault.InvalidInput, "forbidden_import", "module imports the %s %.100q from %.100q, which guests may not have", kind, name.name, name.module)
	switch {
	case strings.HasPrefix(name.module, "air_") && name.module != hostabi.Module:
		return e.WithHint("this air knows the ABI %s only", hostabi.Module)
	case strings.HasPrefix(name.module, "wasi") && name.module != hostabi.WASIModule:
		return e.WithHint("of WASI only %s can be linked: build for wasip1", hostabi.WASIModule)
	}
	return e.WithHint("a guest imports functions of %s and %s and nothing else: files, network and commands go through tool_call", hostabi.Module, hostabi.WASIModule)
}

func (d *decoder) exportSection(r *reader) error {
	d.exports = map[string]export{}
	for range r.count("exports", maxExports) {
		name := r.name()
		e := export{r.byte(), r.u32()}
		if r.err != nil {
			return r.err
		}
		if _, twice := d.exports[name]; twice {
			return fmt.Errorf("two exports are named %.100q", name)
		}
		d.exports[name] = e
	}
	return r.err
}

func (d *decoder) startSection(r *reader) error {
	index := r.u32()
	if r.err != nil {
		return r.err
	}
	s, ok := d.signatureOf(index)
	if !ok || s != (signature{}) {
		return fmt.Errorf("start function %d is not one without parameters and results", index)
	}
	return nil
}

// exported checks that the module exports what a guest must.
func (d *decoder) exported() error {
	if e, ok := d.exports[hostabi.ExportMemory]; !ok || d.memories != 1 || e != (export{kind: kindMemory}) {
		return badExport("its memory under the name %q", hostabi.ExportMemory)
	}
	i32 := string([]byte{byte(hostabi.I32)})
	if err := d.exportedFunction(hostabi.ExportCall, signature{i32, i32}); err != nil {
		return d.explainCommand(err)
	}
	if _, ok := d.exports[hostabi.ExportInitialize]; ok {
		return d.exportedFunction(hostabi.ExportInitialize, signature{})
	}
	return nil
}

func (d *decoder) exportedFunction(name string, want signature) error {
	e, ok := d.exports[name]
	if !ok || e.kind != kindFunction {
		return badExport("the function %s %s", name, want)
	}
	got, known := d.signatureOf(e.index)
	if !known {
		return fault.New(fault.InvalidInput, "invalid_module", "module exports function %d of %d as %s", e.index, len(d.functions), name)
	}
	if got != want {
		return badExport("the function %s as %s, not as %s", name, want, got)
	}
	return nil
}

func badExport(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidInput, "forbidden_export", "module does not export "+format, args...).
		WithHint("a guest exports memory, air_call (i32) -> (i32) and, if it needs it, _initialize () -> ()")
}

// explainCommand helps who built a program instead of a library.
func (d *decoder) explainCommand(err error) error {
	if _, ok := d.exports["_start"]; ok {
		return fault.New(fault.InvalidInput, "forbidden_export", "module is a WASI command: it exports _start and no air_call").
			WithHint("build a reactor: in Go with -buildmode=c-shared, in C with -mexec-model=reactor")
	}
	return err
}
