package wazero

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/aircoding/air/internal/wasmbin"
)

// Compile prepares a module and leaves in the empty folder dir what Load needs. It runs
// nothing of the module.
//
// wazero decodes and validates every body again when machine code comes from its cache,
// which is most of what loading takes. Machine code depends on nothing that is in a body
// of the loading module, so the code of the whole module is put where wazero looks for
// the code of one with empty bodies, the skeleton.
func (e *Engine) Compile(module []byte, dir string) error {
	p, err := wasmbin.Prepare(module)
	if err != nil {
		return err
	}
	full := filepath.Join(dir, fullFolder)
	code, err := machineCode(p.Full, full)
	if err != nil {
		return err
	}
	place, err := machineCode(p.Skeleton, filepath.Join(dir, codeFolder))
	if err != nil {
		return err
	}
	return cacheFault(errors.Join(
		os.Rename(code, place),
		os.RemoveAll(full),
		writeFile(filepath.Join(dir, skeletonFile), p.Skeleton),
		writeFile(filepath.Join(dir, imageFile), p.Image.Encode()),
	))
}

// machineCode compiles a module into a folder that does not exist yet, and returns the
// one file that wazero leaves there.
func machineCode(module []byte, dir string) (path string, err error) {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return "", cacheFault(err)
	}
	ctx := compileContext()
	r := wazero.NewRuntimeWithConfig(ctx, compiler().WithCompilationCache(cache))
	_, err = r.CompileModule(ctx, module)
	_ = errors.Join(r.Close(ctx), cache.Close(ctx)) // nothing of it is needed any more
	if err != nil {
		if isFileFault(err) {
			err = cacheFault(err)
		}
		return "", err
	}
	return codeFile(dir)
}

func compileContext() context.Context {
	return experimental.WithCompilationWorkers(context.Background(), runtime.GOMAXPROCS(0))
}

func compiler() wazero.RuntimeConfig { return configured(wazero.NewRuntimeConfigCompiler()) }

// configured leaves the memory limit to the allocator, which sees a refusal. Function
// names in traces come from the name section; DWARF would only cost time and trust.
func configured(c wazero.RuntimeConfig) wazero.RuntimeConfig {
	return c.WithCoreFeatures(api.CoreFeaturesV2).WithDebugInfoEnabled(false)
}
