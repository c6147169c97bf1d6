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

type imported struct {
	importName
	kind byte
	of   uint32 // function: its type
	table
	global
}

type global struct {
	value   byte // type
	mutable bool
}

func (o *outline) importSection(r *reader) error {
	for range r.count("imports", maxImports) {
		i := imported{importName: importName{r.name(), r.name()}, kind: r.byte()}
		if r.err != nil {
			return r.err
		}
		if err := o.describe(&i, r); err != nil {
			return err
		}
		o.importedOf[i.kind]++
		o.imports = append(o.imports, i)
	}
	if o.importedOf[kindMemory] > 1 {
		return unsupported("several memories")
	}
	return r.err
}

// describe reads what an import is. Guests import functions only.
func (o *outline) describe(i *imported, r *reader) (err error) {
	if o.allowed != nil && i.kind != kindFunction {
		return forbiddenImport(i.importName, kindName(i.kind))
	}
	switch i.kind {
	case kindFunction:
		i.of = r.u32()
		return o.importFunction(i, r)
	case kindTable:
		i.table, err = tableType(r)
	case kindMemory:
		i.table.limits, err = memoryType(r)
	case kindGlobal:
		i.global = globalType(r)
		err = r.err
	case kindTag:
		err = unsupported("exceptions")
	default:
		err = fmt.Errorf("an import of kind %d", i.kind)
	}
	return err
}

func globalType(r *reader) global {
	g := global{value: r.valueType()}
	mutable := r.byte()
	if mutable > 1 {
		r.fail("mutability %d", mutable)
	}
	g.mutable = mutable == 1
	return g
}

func kindName(kind byte) string {
	if int(kind) < len(kindNames) {
		return kindNames[kind]
	}
	return fmt.Sprintf("kind %d", kind)
}

func (o *outline) importFunction(i *imported, r *reader) error {
	want, ok := o.allowed[i.importName]
	if !ok && o.allowed != nil {
		return forbiddenImport(i.importName, "function")
	}
	if r.err != nil {
		return r.err
	}
	if err := o.addFunction(i.of); err != nil {
		return err
	}
	if got := o.types[i.of]; got != want && o.allowed != nil {
		return fault.New(fault.InvalidInput, "forbidden_import", "module imports %s.%s as %s, it is %s", i.module, i.name, got, want).
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

type export struct {
	name  string
	kind  byte
	index uint32
}

// reserved begins the names of what the rewriter exports.
const reserved = "air."

func (o *outline) exportSection(r *reader) error {
	for range r.count("exports", maxExports) {
		e := export{r.name(), r.byte(), r.u32()}
		if r.err != nil {
			return r.err
		}
		if _, twice := o.exported[e.name]; twice {
			return fmt.Errorf("two exports are named %.100q", e.name)
		}
		if e.kind >= kindTag {
			return fmt.Errorf("an export of kind %d", e.kind)
		}
		if o.allowed != nil && strings.HasPrefix(e.name, reserved) {
			return fault.New(fault.InvalidInput, "forbidden_export", "module exports %.100q: names that begin with %q are AIR's own", e.name, reserved).
				WithHint("export it under another name")
		}
		o.exported[e.name] = len(o.exports)
		o.exports = append(o.exports, e)
	}
	return r.err
}

// checkExports checks that the module exports what a guest must.
func (o *outline) checkExports() error {
	if e, ok := o.export(hostabi.ExportMemory); !ok || len(o.memories) != 1 || e.kind != kindMemory || e.index != 0 {
		return badExport("its memory under the name %q", hostabi.ExportMemory)
	}
	i32 := string([]byte{byte(hostabi.I32)})
	if err := o.exportedFunction(hostabi.ExportCall, signature{i32, i32}); err != nil {
		return o.explainCommand(err)
	}
	if _, ok := o.export(hostabi.ExportInitialize); ok {
		return o.exportedFunction(hostabi.ExportInitialize, signature{})
	}
	return nil
}

func (o *outline) export(name string) (e export, ok bool) {
	i, ok := o.exported[name]
	if ok {
		e = o.exports[i]
	}
	return e, ok
}

func (o *outline) exportedFunction(name string, want signature) error {
	e, ok := o.export(name)
	if !ok || e.kind != kindFunction {
		return badExport("the function %s %s", name, want)
	}
	got, known := o.signatureOf(e.index)
	if !known {
		return fault.New(fault.InvalidInput, "invalid_module", "module exports function %d of %d as %s", e.index, len(o.functions), name)
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
func (o *outline) explainCommand(err error) error {
	if _, ok := o.export("_start"); ok {
		return fault.New(fault.InvalidInput, "forbidden_export", "module is a WASI command: it exports _start and no air_call").
			WithHint("build a reactor: in Go with -buildmode=c-shared, in C with -mexec-model=reactor")
	}
	return err
}
