package wazero

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/aircoding/air/internal/wasmbin"
)

// instance is one instantiation of the module. Between calls it holds what the image
// says and nothing else.
type instance struct {
	api.Module
	run     api.Function        // air_call or _start, with a stack of its own that is still empty
	globals []api.MutableGlobal // as in the image
	used    bool                // a call ran in it
	broken  bool                // by a trap, which may have left anything anywhere
}

// ready makes e.instance one that no call has left anything in.
func (e *Engine) ready() (err error) {
	if e.instance != nil && e.instance.used && !e.rewind() {
		e.drop()
	}
	if e.instance == nil {
		if e.instance, err = e.instantiate(); err != nil {
			return err
		}
	}
	if e.instance.run == nil {
		e.instance.run = e.instance.ExportedFunction(e.abi.Entry())
	}
	return nil
}

func (e *Engine) drop() {
	if e.instance != nil {
		_ = e.instance.Close(context.Background())
		e.instance = nil
	}
}

func (e *Engine) instantiate() (*instance, error) {
	ctx := experimental.WithMemoryAllocator(context.Background(), &e.memory)
	m, err := e.runtime.InstantiateModule(ctx, e.module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, err
	}
	i := &instance{Module: m}
	if err := i.fill(e.image); err != nil {
		_ = m.Close(ctx)
		return nil, err
	}
	return i, nil
}

// fill puts the image into a new instance, whose memory is zero.
func (i *instance) fill(image wasmbin.Image) error {
	for _, g := range image.Globals {
		global, ok := i.ExportedGlobal(wasmbin.ExportGlobal(g.Index)).(api.MutableGlobal)
		if !ok {
			return fmt.Errorf("the module has no global %d", g.Index)
		}
		global.Set(g.Value)
		i.globals = append(i.globals, global)
	}
	if has := i.pages(); has > image.Pages {
		return fmt.Errorf("the module starts with %d pages of memory, its image has %d", has, image.Pages)
	} else if _, ok := i.Memory().Grow(image.Pages - has); !ok {
		return errors.New("no memory for the image")
	}
	memory := i.view()
	for _, run := range image.Runs {
		copy(memory[run.Offset:], run.Data)
	}
	return nil
}

// rewind puts the image back after a call. It reports false where that would not undo
// all that the call did.
func (e *Engine) rewind() bool {
	i := e.instance
	if !e.image.Freezable || i.broken || i.pages() != e.image.Pages {
		return false
	}
	for k, g := range e.image.Globals {
		i.globals[k].Set(g.Value)
	}
	e.memory.restore(e.image.Runs)
	i.used, i.run = false, nil
	return true
}

func (i *instance) pages() uint32 {
	pages, _ := i.Memory().Grow(0)
	return pages
}

// view is the whole linear memory, valid until it grows.
func (i *instance) view() []byte {
	memory, _ := i.Memory().Read(0, i.Memory().Size())
	return memory
}
