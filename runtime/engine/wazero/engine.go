// Package wazero runs guests on the wazero engine, and is the only importer of it. It
// lives in a worker: a fault in here ends one process and one call.
package wazero

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/wasmbin"
)

// Engine holds one compiled module and runs it, one call at a time. The zero value is
// ready for Compile or Load.
type Engine struct {
	// Interpreter runs guests without compiling them, for tests: Load takes no folder.
	Interpreter bool

	runtime  wazero.Runtime
	module   wazero.CompiledModule
	image    wasmbin.Image // what calls start from
	memory   memory
	instance *instance     // nil, ready for the next call, or used by the last
	call     *hostabi.Call // the one under way
}

// Run carries out one call, of which nothing stays behind for the next. An error is a
// trap, or an instance that could not be made.
func (e *Engine) Run(call *hostabi.Call) (status uint32, err error) {
	if err := e.enter(call); err != nil {
		return 0, err
	}
	call.Begin()
	err = e.guarded(func() error {
		results, err := e.instance.run.Call(context.Background(), uint64(len(call.Input)))
		if err == nil {
			status = uint32(results[0])
		}
		return err
	})
	return status, err
}

// Reset removes what the last call left behind, and makes an instance ready for the next.
// Run does the same where it was not done, at the expense of whoever waits for it.
func (e *Engine) Reset() {
	e.call = nil
	_ = e.guarded(e.ready) // an error comes again in Run
}

// MemoryRefused reports whether the last call asked for more memory than the limit.
func (e *Engine) MemoryRefused() bool { return e.memory.refused }

// enter takes a clean instance to where air_call can begin.
func (e *Engine) enter(call *hostabi.Call) error {
	e.call, e.memory.refused = call, false
	return e.guarded(func() error {
		if err := e.ready(); err != nil {
			return err
		}
		e.instance.used = true
		if e.image.Frozen {
			return nil
		}
		for _, name := range []string{wasmbin.ExportStart, hostabi.ExportInitialize} {
			if f := e.instance.ExportedFunction(name); f != nil {
				if _, err := f.Call(context.Background()); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		return nil
	})
}

// guarded turns a panic into an error, for wazero allocates tables with make, and gives
// up the instance after either.
func (e *Engine) guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		if err != nil && e.instance != nil {
			e.instance.broken = true
		}
	}()
	return f()
}

// link provides the host functions that the module imports, and no others.
func (e *Engine) link() error {
	wanted := map[[2]string]bool{}
	for _, f := range e.module.ImportedFunctions() {
		module, name, _ := f.Import()
		wanted[[2]string{module, name}] = true
	}
	builders := map[string]wazero.HostModuleBuilder{}
	for _, f := range hostabi.Functions() {
		if !wanted[[2]string{f.Module, f.Name}] {
			continue
		}
		if builders[f.Module] == nil {
			builders[f.Module] = e.runtime.NewHostModuleBuilder(f.Module)
		}
		builders[f.Module].NewFunctionBuilder().
			WithGoModuleFunction(e.adapt(f), valueTypes(f.Params), valueTypes(f.Results)).Export(f.Name)
	}
	for name, b := range builders {
		if _, err := b.Instantiate(context.Background()); err != nil {
			return fmt.Errorf("linking %s: %w", name, err)
		}
	}
	return nil
}

func (e *Engine) adapt(f hostabi.Function) api.GoModuleFunc {
	return func(_ context.Context, m api.Module, stack []uint64) {
		if err := f.Call(e.call, m.Memory(), stack); err != nil {
			panic(err) // wazero's way for a host function to trap
		}
	}
}

func valueTypes(types []hostabi.ValueType) []api.ValueType {
	list := make([]api.ValueType, len(types))
	for i, t := range types {
		list[i] = api.ValueType(t)
	}
	return list
}
