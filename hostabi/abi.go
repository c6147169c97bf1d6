// Package hostabi owns what passes between a guest and its host: the functions that a
// guest imports, and the frames in which its worker speaks to the host process. It
// imports nothing of ours, so that every engine and both ends of the socket share it.
package hostabi

import "fmt"

// The names that a guest module imports and exports.
const (
	Module     = "air_v1"
	WASIModule = "wasi_snapshot_preview1"

	ExportMemory     = "memory"
	ExportCall       = "air_call"
	ExportInitialize = "_initialize"
	ExportCommand    = "_start"
)

// ABI says how a guest is started, what it may import, and where its input and output are.
type ABI string

const (
	// AirV1 guests export air_call, and read the invocation through functions of air_v1.
	AirV1 ABI = "air.v1"
	// WASICommand guests are programs: they export _start, read the tool's input from
	// stdin, write its output to stdout, and know of air nothing else.
	WASICommand ABI = "wasi.command"
)

// Entry is the export that carries out a call.
func (a ABI) Entry() string {
	if a == WASICommand {
		return ExportCommand
	}
	return ExportCall
}

// KnowsAir reports whether a guest reads an invocation and calls the functions of air_v1.
func (a ABI) KnowsAir() bool { return a != WASICommand }

// Prepares reports whether a guest may do part of its work before its first call, in its
// start function and _initialize. A command does nothing but a call.
func (a ABI) Prepares() bool { return a != WASICommand }

// Code is what a host function returns instead of a length when it did nothing.
type Code = int32

const (
	EFAULT    Code = -1 // a pointer or length reaches outside the guest's memory
	E2BIG     Code = -2 // more bytes than a limit allows
	EBADSTATE Code = -3 // not now: during _initialize or start, or nothing is staged
	ECANCELED Code = -4 // the call is being stopped
	EQUOTA    Code = -5 // the call used up its host calls or its log, or a budget is used up
)

// What air_call returns. Any other status is a fault of the guest.
const (
	StatusOK    uint32 = 0 // the output is the result
	StatusError uint32 = 1 // the output is {code, message, details?}
)

// Kinds of emit.
const (
	EmitLog      int32 = 0 // {level, msg}
	EmitProgress int32 = 1 // {fraction?, message?}
	EmitPartial  int32 = 2 // partial output
	EmitEvent    int32 = 3 // {name, payload}
)

// Bounds that hold whatever the manifest says.
const (
	MaxToolName   = 128
	MaxInvocation = 17 << 20 // what a guest reads as its input: 16 MiB of input, tool and config
	MaxRequest    = 16 << 20 // input of a nested call
	MaxEnvelope   = 80 << 20 // answer to a nested call: 64 MiB of output and its envelope
	MaxEmit       = 64 << 10
	MaxModule     = 32 << 20
	MaxMemory     = 1 << 30 // of a guest's linear memory
	PageSize      = 64 << 10
)

// ValueType is a WebAssembly value type in its binary form.
type ValueType byte

const (
	I32 ValueType = 0x7f
	I64 ValueType = 0x7e
)

func (t ValueType) String() string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	case 0x7d:
		return "f32"
	case 0x7c:
		return "f64"
	case 0x7b:
		return "v128"
	case 0x70:
		return "funcref"
	case 0x6f:
		return "externref"
	}
	return fmt.Sprintf("type %#x", byte(t))
}

// Memory is a guest's linear memory as a host function sees it. Read may return a view
// that is valid until the guest runs again.
type Memory interface {
	Read(offset, size uint32) ([]byte, bool)
	Write(offset uint32, data []byte) bool
}

// Function is one host function. All that one can touch is in its Call: this package opens
// no file and no connection, which the import rules see to.
type Function struct {
	Module, Name    string
	Params, Results []ValueType

	call func(c *Call, m Memory, s []uint64) error
}

// Call runs the function. The stack holds the parameters, and the result afterwards at
// index 0. An error ends the guest as a trap.
func (f Function) Call(c *Call, m Memory, stack []uint64) error { return f.call(c, m, stack) }

// Functions lists all that a guest of an ABI can import. Those of WASI have the same names
// and types in each.
func Functions(abi ABI) []Function {
	if abi == WASICommand {
		return wasiFunctions(commandCalls())
	}
	return append(airFunctions(), wasiFunctions(wasiCalls())...)
}

// ExitError ends a guest that called proc_exit: a trap, unless it is a command.
type ExitError struct{ Status uint32 }

func (e *ExitError) Error() string { return fmt.Sprintf("guest called proc_exit(%d)", e.Status) }
