// Package engine runs guests: each call in a fresh instance, in a worker process that
// has no authority and is killed at the deadline. The host's side of it trusts nothing
// that a worker says.
package engine

import (
	"context"
	"encoding/json"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/engine/wazero"
)

// Engine compiles one module and runs it. It lives in a worker process.
type Engine interface {
	// Compile prepares a module that the import proof accepted, and leaves in the empty
	// folder dir all that Load needs. It runs nothing of the module.
	Compile(module []byte, dir string) error
	// Load makes ready what Compile left in dir, or with dir "" compiles module in memory.
	Load(module []byte, dir string, memoryBytes int64) error
	// Freeze runs start and _initialize and returns the encoded image of what they left
	// behind, from which calls start from now on; nil when there is no such image.
	Freeze() []byte
	// Frozen reports whether calls start after _initialize already.
	Frozen() bool
	// Run carries out a call and returns what air_call returned. An error is a trap.
	Run(call *hostabi.Call) (status uint32, err error)
	// Reset removes what the last call left behind and prepares for the next. It runs
	// nothing of the module. It comes after every Run and before the first.
	Reset()
	// MemoryRefused reports whether the last call was refused memory.
	MemoryRefused() bool
}

var _ Engine = (*wazero.Engine)(nil)

// Module is a guest's code and what bounds it.
type Module struct {
	Capability string // workers are never shared between capabilities
	Tool       string
	Path       string // of the module's file
	SHA256     string // of its bytes, hex: what is run is what was verified; never empty
	Limits     runtime.Limits
	Config     json.RawMessage
}

// invocation is what a guest reads as its input.
type invocation struct {
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input"`
	Config json.RawMessage `json:"config"`
}

// handler carries out what a guest asks for. It is called by one goroutine at a time.
type handler interface {
	// ToolCall returns an envelope.
	ToolCall(ctx context.Context, name string, request []byte) []byte
	// Emit returns 0 or a code of package hostabi.
	Emit(ctx context.Context, kind int32, payload []byte) hostabi.Code
}

// result is the end of a call that went well.
type result struct {
	output json.RawMessage
	log    []byte // what the guest printed, cut at the limit
}
