// Package wazero runs guests on the wazero engine, and is the only importer of it. It
// lives in a worker: a fault in here ends one process and one call.
package wazero

import (
	"context"
	"errors"
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

	abi      hostabi.ABI
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
	if err = e.enter(call); err == nil {
		call.Begin()
		err = e.guarded(func() (err error) {
			status, err = e.instance.carryOut(call, e.abi)
			return err
		})
	}
	call.MemoryRefused = e.memory.refused
	var exit *hostabi.ExitError
	if !e.abi.KnowsAir() && errors.As(err, &exit) {
		return exit.Status, nil
	}
	return status, err
}

// carryOut runs what the module exports for a call. A command that returns has succeeded.
func (i *instance) carryOut(call *hostabi.Call, abi hostabi.ABI) (status uint32, err error) {
	ctx := context.Background()
	if !abi.KnowsAir() {
		_, err := i.run.Call(ctx)
		return 0, err
	}
	results, err := i.run.Call(ctx, uint64(len(call.Input)))
	if err != nil {
		return 0, err
	}
	return uint32(results[0]), nil
}

// Reset removes what the last call left behind, and makes an instance ready for the next.
// Run does the same where it was not done, at the expense of whoever waits for it.
func (e *Engine) Reset() {
	e.call = nil
	_ = e.guarded(e.ready) // an error comes again in Run
}

// enter takes a clean instance to where air_call or _start can begin.
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
		for _, name := range e.before() {
			if f := e.instance.ExportedFunction(name); f != nil {
				if _, err := f.Call(context.Background()); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		return nil
	})
}

// before are the exports that a call begins with, where the module has them. A command
// that has an _initialize is none to the import proof.
func (e *Engine) before() []string {
	if !e.abi.Prepares() {
		return []string{wasmbin.ExportStart}
	}
	return []string{wasmbin.ExportStart, hostabi.ExportInitialize}
}

// guarded turns a panic into an error, for wazero allocates tables with make, and gives
// up the instance after either. A guest that asked to end is no reason to.
func (e *Engine) guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		var exit *hostabi.ExitError
		if err != nil && e.instance != nil && !errors.As(err, &exit) {
			e.instance.broken = true
		}
	}()
	return f()
}

// link provides the host functions that the module imports, and no others. The module
// may have been compiled for another ABI, and lack what this one needs.
func (e *Engine) link() error {
	if e.module.ExportedFunctions()[e.abi.Entry()] == nil {
		return fmt.Errorf("module does not export the function %s", e.abi.Entry())
	}
	wanted := map[[2]string]bool{}
	for _, f := range e.module.ImportedFunctions() {
		module, name, _ := f.Import()
		wanted[[2]string{module, name}] = true
	}
	builders := map[string]wazero.HostModuleBuilder{}
	for _, f := range hostabi.Functions(e.abi) {
		if !wanted[[2]string{f.Module, f.Name}] {
			continue
		}
		delete(wanted, [2]string{f.Module, f.Name})
		if builders[f.Module] == nil {
			builders[f.Module] = e.runtime.NewHostModuleBuilder(f.Module)
		}
		builders[f.Module].NewFunctionBuilder().
			WithGoModuleFunction(e.adapt(f), valueTypes(f.Params), valueTypes(f.Results)).Export(f.Name)
	}
	for name := range wanted {
		return fmt.Errorf("module imports %s.%s, which the ABI %s does not have", name[0], name[1], e.abi)
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
