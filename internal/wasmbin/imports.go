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

type imported struct {
	importName
	kind byte
	of   uint32 // function: its type
	table
	memory limits
	globalType
}

type globalType struct {
	value   byte // type
	mutable bool
}

func (o *outline) readImports(r *reader) error {
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
		i.table, err = r.tableType()
	case kindMemory:
		i.memory, err = r.memoryType()
	case kindGlobal:
		i.globalType = r.globalType()
		err = r.err
	case kindTag:
		err = unsupported("exceptions")
	default:
		err = fmt.Errorf("an import of kind %d", i.kind)
	}
	return err
}

func (r *reader) globalType() globalType {
	g := globalType{value: r.valueType()}
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

func forbiddenImport(name importName, kind string) *fault.Error {
	e := fault.New(fault.InvalidInput, "forbidden_import", "module imports the %s %.100q from %.100q, which guests may not have", kind, name.name, name.module)
	switch {
	case strings.HasPrefix(name.module, "air_") && name.module != hostabi.Module:
		return e.WithHint("of these modules this air knows %s only", hostabi.Module)
	case strings.HasPrefix(name.module, "wasi") && name.module != hostabi.WASIModule:
		return e.WithHint("of WASI only %s can be linked: build for wasip1", hostabi.WASIModule)
	}
	return e.WithHint("a guest imports functions of %s and %s and nothing else: files, network and commands go through tool_call", hostabi.Module, hostabi.WASIModule)
}

type importName struct{ module, name string }

// allowed are the imports of any ABI: those of commands are among those of air.v1.
func allowed() map[importName]signature {
	all := map[importName]signature{}
	for _, f := range hostabi.Functions(hostabi.AirV1) {
		all[importName{f.Module, f.Name}] = signature{encode(f.Params), encode(f.Results)}
	}
	return all
}

func encode(types []hostabi.ValueType) string {
	b := make([]byte, len(types))
	for i, t := range types {
		b[i] = byte(t)
	}
	return string(b)
}
