// Package wasmbin owns the binary form of WebAssembly 2.0 modules: it proves what one can
// ask for without compiling it, and rewrites it into what an engine runs. It runs
// nothing, and never panics whatever the bytes are.
package wasmbin

import (
	"bytes"
	"errors"

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

// Prove checks that a module imports nothing but what its ABI offers, exports what a guest
// must, and stays within the limits. minPages is the memory that it starts with. The error
// is of kind invalid_input.
func Prove(module []byte, abi hostabi.ABI) (minPages uint32, err error) {
	if err := header(module); err != nil {
		return 0, err
	}
	o, err := outlineOf(module, allowed())
	if err == nil {
		err = o.bodies(countLocals)
	}
	if err == nil {
		err = o.checkABI(abi)
	}
	if err != nil {
		return 0, classify(err)
	}
	return o.memories[0].min, nil
}

// ABIOf tells from its exports for which ABI a module was built, where nothing else says
// that: it proves nothing, and what is no module at all is for air.v1.
func ABIOf(module []byte) hostabi.ABI {
	if header(module) != nil {
		return hostabi.AirV1
	}
	o, err := outlineOf(module, nil)
	if err != nil {
		return hostabi.AirV1
	}
	_, call := o.exportNamed(hostabi.ExportCall)
	_, command := o.exportNamed(hostabi.ExportCommand)
	if command && !call {
		return hostabi.WASICommand
	}
	return hostabi.AirV1
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

func unsupported(what string) error {
	return fault.New(fault.InvalidInput, "unsupported_module", "module uses %s, which guests may not", what).
		WithHint("build a plain WebAssembly 2.0 core module")
}
