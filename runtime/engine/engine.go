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
	// Load compiles and links a module that the import proof accepted. cached is false
	// when machine code was neither taken from nor put into the cache folder.
	Load(module []byte, cacheDir string, memoryBytes int64) (cached bool, err error)
	// Run carries out a call in a fresh instance and returns what air_call returned.
	// An error is a trap.
	Run(call *hostabi.Call) (status uint32, err error)
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
