package wazero

import (
	"github.com/tetratelabs/wazero/api"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/wasmbin"
)

// Freeze runs start and _initialize in a fresh instance and returns the encoded image of
// what they left behind, from which calls start from now on. The caller must not change
// it. It is nil, and calls start as before, when the module cannot be frozen: when an
// image cannot hold its state, or when what start and _initialize did is for a call to
// report: a trap, text for the log, memory that was refused. Nor is a command: all that it
// does is the call.
func (e *Engine) Freeze() []byte {
	if e.image.Frozen {
		return e.image.Encode()
	}
	if !e.image.Freezable || !e.abi.Prepares() {
		return nil
	}
	call := &hostabi.Call{Limits: hostabi.Limits{LogBytes: 1}}
	err := e.enter(call)
	e.call = nil
	if err == nil && len(call.Log) == 0 && !e.memory.refused {
		if data := e.capture(); data != nil {
			return data
		}
	}
	e.drop() // the instance was used
	return nil
}

// capture makes the image of what the instance is now, from which calls start from now
// on; nil where it is too large to keep.
func (e *Engine) capture() []byte {
	i := e.instance
	globals := make([]wasmbin.Global, len(i.globals))
	for k, g := range e.image.Globals {
		globals[k] = wasmbin.Global{Index: g.Index, Value: value(i.globals[k])}
	}
	image := wasmbin.ImageOf(i.view(), globals)
	if size(image) > hostabi.MaxImage { // the process need not have room for that
		return nil
	}
	data := image.Encode()
	if len(data) > hostabi.MaxImage {
		return nil
	}
	image, err := wasmbin.DecodeImage(data) // whose runs do not alias the memory
	if err != nil {
		return nil
	}
	e.image, i.used = image, false // the instance is what the image says
	return data
}

// size is that of an image's runs, which is most of what it takes.
func size(image wasmbin.Image) (n int) {
	for _, r := range image.Runs {
		n += len(r.Data)
	}
	return n
}

// value is that of a global without the upper half of a narrow one, which is unspecified.
func value(g api.MutableGlobal) uint64 {
	if t := g.Type(); t == api.ValueTypeI32 || t == api.ValueTypeF32 {
		return uint64(uint32(g.Get()))
	}
	return g.Get()
}

// Frozen reports whether calls start after _initialize already.
func (e *Engine) Frozen() bool { return e.image.Frozen }
