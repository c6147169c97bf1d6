package wazero

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/aircoding/air/internal/wasmbin"
)

// ErrCache is a cache folder that could not be read or written, or whose contents do not
// belong together. It says nothing about the module.
var ErrCache = errors.New("compile cache")

// What a cache folder holds.
const (
	skeletonFile = "skeleton.wasm" // the module without its bodies
	imageFile    = "image"         // the plain image
	frozenFile   = "frozen"        // the image after _initialize, which the host adds later
	codeFolder   = "code"          // wazero's own folder with one file: the machine code of all bodies
	fullFolder   = "full"          // the same while Compile is at work
)

// Compile prepares a module and leaves in the empty folder dir what Load needs. It runs
// nothing of the module.
//
// wazero decodes and validates every body again when machine code comes from its cache,
// which is most of what loading takes. Machine code depends on nothing that is in a body
// of the loading module, so the code of the whole module is put where wazero looks for
// the code of one with empty bodies, the skeleton.
func (e *Engine) Compile(module []byte, dir string) error {
	p, err := wasmbin.Prepare(module, wasmbin.Clamp{})
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

// codeFile finds the only file in wazero's folder below dir.
func codeFile(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		return "", cacheFault(err)
	}
	if len(files) != 1 {
		return "", cacheFault(fmt.Errorf("%d files of machine code, want 1", len(files)))
	}
	return files[0], nil
}

func writeFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func cacheFault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrCache, err)
}

// isFileFault tells trouble with files from trouble with the module.
func isFileFault(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	var errno syscall.Errno
	return errors.As(err, &path) || errors.As(err, &link) || errors.As(err, &errno) ||
		strings.HasPrefix(err.Error(), "compilationcache:")
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
