package wazero

import (
	"github.com/tetratelabs/wazero/api"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/wasmbin"
)

// maxFrozen bounds an encoded image: what is larger is not worth keeping.
const maxFrozen = 64 << 20

// Freeze runs start and _initialize in a fresh instance and returns the encoded image of
// what they left behind, from which calls start from now on. The caller must not change
// it. It is nil, and calls start as before, when the module cannot be frozen: when an
// image cannot hold its state, or when what start and _initialize did is for a call to
// report: a trap, text for the log, memory that was refused.
func (e *Engine) Freeze() []byte {
	if e.image.Frozen {
		return e.image.Encode()
	}
	if !e.image.Freezable {
		return nil
	}
	data := e.freeze()
	e.call = nil
	if data == nil {
		e.discard() // the instance was used
	}
	return data
}

func (e *Engine) freeze() []byte {
	call := &hostabi.Call{Limits: hostabi.Limits{LogBytes: 1}}
	if err := e.enter(call); err != nil || len(call.Log) > 0 || e.memory.refused {
		return nil
	}
	i := e.instance
	globals := make([]wasmbin.Global, len(i.globals))
	for k, g := range e.image.Globals {
		globals[k] = wasmbin.Global{Index: g.Index, Value: value(i.globals[k])}
	}
	image := wasmbin.ImageOf(i.view(), globals)
	image.Frozen, image.Freezable = true, true
	data := image.Encode()
	if len(data) > maxFrozen {
		return nil
	}
	image, err := wasmbin.DecodeImage(data) // of which the runs are no parts of the memory
	if err != nil {
		return nil
	}
	e.image, i.used = image, false // the instance is what the image says
	return data
}

// value is that of a global without the upper half of a narrow one, which is nobody's.
func value(g api.MutableGlobal) uint64 {
	if t := g.Type(); t == api.ValueTypeI32 || t == api.ValueTypeF32 {
		return uint64(uint32(g.Get()))
	}
	return g.Get()
}

// Frozen reports whether calls start after _initialize already.
func (e *Engine) Frozen() bool { return e.image.Frozen }
