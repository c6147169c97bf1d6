// Package wazero runs guests on the wazero engine, and is the only importer of it. It
// lives in a worker: a fault in here ends one process and one call.
package wazero

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/aircoding/air/hostabi"
)

// Engine holds one compiled module and runs it, one call at a time. The zero value is
// ready for Load.
type Engine struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	memory  memory
	call    *hostabi.Call // the one under way
}

// Load compiles the module, or takes it from the cache folder, and links it. cached is
// false when the folder, if there is one, could not be used: the module is loaded all
// the same.
func (e *Engine) Load(module []byte, cacheDir string, memoryBytes int64) (cached bool, err error) {
	e.memory.limit = uint64(memoryBytes)
	ctx := experimental.WithCompilationWorkers(context.Background(), runtime.GOMAXPROCS(0))
	cached, err = e.compile(ctx, module, cacheDir)
	if err != nil {
		return false, err
	}
	return cached, e.link(ctx)
}

func (e *Engine) compile(ctx context.Context, module []byte, cacheDir string) (cached bool, err error) {
	if cacheDir == "" {
		return false, e.attempt(ctx, config(), module)
	}
	cache, err := wazero.NewCompilationCacheWithDir(cacheDir)
	if err != nil {
		return false, e.attempt(ctx, config(), module)
	}
	err = e.attempt(ctx, config().WithCompilationCache(cache), module)
	if err == nil || !isCacheFault(err) {
		return err == nil, err
	}
	// A module whose code could not be stored is compiled already, and taken from memory
	// the second time: a full disk costs no second compilation.
	if e.module, err = e.runtime.CompileModule(ctx, module); err == nil {
		return false, nil
	}
	return false, e.attempt(ctx, config(), module)
}

func (e *Engine) attempt(ctx context.Context, c wazero.RuntimeConfig, module []byte) (err error) {
	e.runtime = wazero.NewRuntimeWithConfig(ctx, c)
	e.module, err = e.runtime.CompileModule(ctx, module)
	return err
}

// config leaves the memory limit to the allocator, which sees a refusal. Function names
// in traces come from the name section; DWARF would only cost time and trust.
func config() wazero.RuntimeConfig {
	return wazero.NewRuntimeConfigCompiler().WithCoreFeatures(api.CoreFeaturesV2).WithDebugInfoEnabled(false)
}

// isCacheFault tells trouble with files from trouble with the module.
func isCacheFault(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	var errno syscall.Errno
	return errors.As(err, &path) || errors.As(err, &link) || errors.As(err, &errno) ||
		strings.HasPrefix(err.Error(), "compilationcache:")
}

// link provides the host functions that the module imports, and no others.
func (e *Engine) link(ctx context.Context) error {
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
		if _, err := b.Instantiate(ctx); err != nil {
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

// Run carries out one call in a fresh instance, of which nothing stays behind. An error
// is a trap, or an instance that could not be made.
func (e *Engine) Run(call *hostabi.Call) (status uint32, err error) {
	defer func() {
		if p := recover(); p != nil { // wazero allocates tables with make, which can panic
			err = fmt.Errorf("%v", p)
		}
	}()
	e.call, e.memory.refused = call, false
	ctx := experimental.WithMemoryAllocator(context.Background(), &e.memory)
	instance, err := e.runtime.InstantiateModule(ctx, e.module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return 0, err
	}
	defer func() { _ = instance.Close(ctx) }()
	if initialize := instance.ExportedFunction(hostabi.ExportInitialize); initialize != nil {
		if _, err := initialize.Call(ctx); err != nil {
			return 0, fmt.Errorf("%s: %w", hostabi.ExportInitialize, err)
		}
	}
	call.Begin()
	results, err := instance.ExportedFunction(hostabi.ExportCall).Call(ctx, uint64(len(call.Input)))
	if err != nil {
		return 0, err
	}
	return uint32(results[0]), nil
}

// MemoryRefused reports whether the last call asked for more memory than the limit.
func (e *Engine) MemoryRefused() bool { return e.memory.refused }

// Identity names what the machine code in a cache folder belongs to. It knows no more
// in a test binary, which carries no module versions.
func Identity() string {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/tetratelabs/wazero" {
				version = d.Version
			}
		}
	}
	return "wazero " + version + " " + runtime.GOOS + "/" + runtime.GOARCH
}
