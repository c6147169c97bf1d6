// Package engine runs guests: each call as if in a fresh instance, in a worker process that
// has no authority and is killed at the deadline. The host's side of it trusts nothing
// that a worker says.
package engine

import (
	"context"
	"encoding/json"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/runtime/engine/wazero"
)

// Engine compiles one module and runs it. It lives in a worker process.
type Engine interface {
	// Compile prepares a module that the import proof accepted, and leaves in the empty
	// folder dir all that Load needs. It runs nothing of the module.
	Compile(module []byte, dir string) error
	// Load compiles a module in memory. memoryBytes bounds its linear memory.
	Load(module []byte, abi hostabi.ABI, memoryBytes int64) error
	// LoadFolder makes ready what Compile left in dir.
	LoadFolder(dir string, abi hostabi.ABI, memoryBytes int64) error
	// Freeze runs start and _initialize and returns the encoded image of what they left
	// behind, from which calls start from now on; nil when there is no such image. Of
	// commands there is none.
	Freeze() []byte
	// Frozen reports whether calls start after _initialize already.
	Frozen() bool
	// Run carries out a call and returns what air_call returned, or a command's exit
	// status. An error is a trap. It begins with a Reset where none came before.
	Run(call *hostabi.Call) (status uint32, err error)
	// Reset removes what the last call left behind and prepares for the next. It runs
	// nothing of the module.
	Reset()
}

var _ Engine = (*wazero.Engine)(nil)

// handler carries out what a guest asks for. It is called by one goroutine at a time.
type handler interface {
	// ToolCall returns an envelope.
	ToolCall(ctx context.Context, name string, request []byte) []byte
	// Emit returns 0 or a code of package hostabi.
	Emit(ctx context.Context, kind int32, payload []byte) hostabi.Code
}

// result is what is left of a call, however it ended.
type result struct {
	output json.RawMessage // nil unless the call went well
	log    []byte          // what the guest printed, cut at the limit
}
