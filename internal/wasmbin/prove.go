// Package wasmbin owns the binary form of WebAssembly 2.0 modules: it proves what one can
// ask for without compiling it, and rewrites it into what an engine runs. It runs
// nothing, and never panics whatever the bytes are.
package wasmbin

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
)

// Limits of a module: those of the JavaScript embedding, or stricter; honest modules stay
// far below. They let the cheapest compile bombs die before any compiler sees them; the
// others end with the worker that compiles them.
const (
	maxBody      = 7_654_321 // bytes of one function
	maxFunctions = 200_000
	maxLocals    = 50_000 // of one function
	maxParams    = 1_000
	maxTypes     = 100_000
	maxImports   = 1_000
	maxExports   = 100_000
	maxTables    = 16
	maxTableSize = 1_000_000 // entries of all tables at the start
	maxPages     = 65_536
	maxGlobals   = 100_000
	maxSegments  = 100_000
	maxElements  = 10_000_000 // of one segment
)

// Prove checks that a module imports nothing but the ABI and the WASI stub, exports what
// a guest must, and stays within the limits. minPages is the memory that it starts with.
// The error is of kind invalid_input.
func Prove(module []byte) (minPages uint32, err error) {
	if err := header(module); err != nil {
		return 0, err
	}
	o, err := outlineOf(module, allowed())
	if err == nil {
		err = o.bodies(countLocals)
	}
	if err == nil {
		err = o.checkExports()
	}
	if err != nil {
		return 0, classify(err)
	}
	return o.memories[0].min, nil
}

func countLocals(_ int, body *reader) error {
	return locals(body, groupsOfLocals(body), func(uint32, byte) {})
}

// header tells modules from components, from what is no WebAssembly at all, and from what
// is too large.
func header(module []byte) error {
	if len(module) > hostabi.MaxModule {
		return fault.New(fault.InvalidInput, "module_too_large", "module has %d bytes, the limit is %d", len(module), hostabi.MaxModule).
			WithHint("build without debug information")
	}
	if !bytes.HasPrefix(module, []byte("\x00asm")) || len(module) < 8 {
		return fault.New(fault.InvalidInput, "not_wasm", "not a WebAssembly module: it does not start with its magic number")
	}
	version := module[4:8]
	if bytes.Equal(version, []byte{0x0d, 0, 1, 0}) {
		return fault.New(fault.InvalidInput, "component", "this is a component, not a core module").
			WithHint("build a core module for wasip1; components are not supported")
	}
	if !bytes.Equal(version, []byte{1, 0, 0, 0}) {
		return fault.New(fault.InvalidInput, "not_wasm", "WebAssembly version %x, only version 1 is known", version)
	}
	return nil
}

func classify(err error) error {
	var known *fault.Error
	var limit *limitError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &limit):
		return fault.New(fault.InvalidInput, "module_too_complex", "module has %w", limit)
	}
	return fault.New(fault.InvalidInput, "invalid_module", "module: %w", err).
		WithHint("the file is truncated or no valid WebAssembly: build it again")
}

// signature is a function type in its binary form: parameters, then results.
type signature struct{ params, results string }

func (s signature) String() string {
	return fmt.Sprintf("(%s) -> (%s)", typeNames(s.params), typeNames(s.results))
}

func typeNames(types string) string {
	var b bytes.Buffer
	for i := range len(types) {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == 16 {
			b.WriteString("…")
			break
		}
		b.WriteString(hostabi.ValueType(types[i]).String())
	}
	return b.String()
}

type importName struct{ module, name string }

func allowed() map[importName]signature {
	all := map[importName]signature{}
	for _, f := range hostabi.Functions() {
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
