package wasmbin

import (
	"fmt"
	"strings"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
)

type export struct {
	name  string
	kind  byte
	index uint32
}

// reserved begins the names of what the rewriter exports.
const reserved = "air."

func (o *outline) readExports(r *reader) error {
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

// checkExports checks that the module exports what a guest of some ABI must.
func (o *outline) checkExports() error {
	err := o.checkABI(hostabi.AirV1)
	if _, command := o.exportNamed(hostabi.ExportCommand); err != nil && command {
		return o.checkABI(hostabi.WASICommand)
	}
	return err
}

// checkABI checks that the module exports what a guest of an ABI must.
func (o *outline) checkABI(abi hostabi.ABI) error {
	if e, ok := o.exportNamed(hostabi.ExportMemory); !ok || len(o.memories) != 1 || e.kind != kindMemory || e.index != 0 {
		return badExport("its memory under the name %q", hostabi.ExportMemory)
	}
	if abi == hostabi.WASICommand {
		return o.checkCommand()
	}
	i32 := string([]byte{byte(hostabi.I32)})
	if err := o.exportedFunction(hostabi.ExportCall, signature{i32, i32}); err != nil {
		return o.explainCommand(err)
	}
	if _, ok := o.exportNamed(hostabi.ExportInitialize); ok {
		return o.exportedFunction(hostabi.ExportInitialize, signature{})
	}
	return nil
}

// checkCommand checks all but the memory. WASI knows commands and reactors, and nothing
// that is both: whoever runs _start would not know whether _initialize is to come first.
// Specification: github.com/WebAssembly/WASI, legacy/application-abi.md.
func (o *outline) checkCommand() error {
	if err := o.exportedFunction(hostabi.ExportCommand, signature{}); err != nil {
		return o.explainReactor(err)
	}
	for _, i := range o.imports {
		if i.module == hostabi.Module {
			return forbiddenImport(i.importName, "function").
				WithHint("a command has its input on stdin, its output on stdout, and calls no tools: for tools build a guest of the ABI %s", hostabi.AirV1)
		}
	}
	if _, ok := o.exportNamed(hostabi.ExportInitialize); ok {
		return fault.New(fault.InvalidInput, "forbidden_export", "module exports both %s and %s", hostabi.ExportCommand, hostabi.ExportInitialize).
			WithHint("a program exports the first, a library the second")
	}
	return nil
}

func (o *outline) exportNamed(name string) (e export, ok bool) {
	i, ok := o.exported[name]
	if ok {
		e = o.exports[i]
	}
	return e, ok
}

func (o *outline) exportedFunction(name string, want signature) error {
	e, ok := o.exportNamed(name)
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
		WithHint("a guest exports memory, air_call (i32) -> (i32) and, if it needs it, _initialize () -> (); a command exports memory and _start () -> ()")
}

// explainCommand helps whoever built a program instead of a library.
func (o *outline) explainCommand(err error) error {
	if _, ok := o.exportNamed(hostabi.ExportCommand); ok {
		return fault.New(fault.InvalidInput, "forbidden_export", "module is a WASI command: it exports _start and no air_call").
			WithHint("say so with the abi %s in the manifest, or build a reactor: in Go with -buildmode=c-shared, in C with -mexec-model=reactor", hostabi.WASICommand)
	}
	return err
}

// explainReactor helps whoever built a library instead of a program.
func (o *outline) explainReactor(err error) error {
	if _, ok := o.exportNamed(hostabi.ExportCall); ok {
		return fault.New(fault.InvalidInput, "forbidden_export", "module is no WASI command: it exports air_call and no _start").
			WithHint("say so with the abi %s in the manifest, or build a program", hostabi.AirV1)
	}
	return err
}
