package wazero

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tetratelabs/wazero"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/wasmbin"
)

// Load compiles a module in memory. memoryBytes bounds the linear memory of an instance.
func (e *Engine) Load(module []byte, abi hostabi.ABI, memoryBytes int64) error {
	e.abi, e.memory.limit = abi, uint64(memoryBytes)
	if err := e.loadModule(module); err != nil {
		return err
	}
	return e.loaded()
}

// LoadFolder makes ready what Compile left in dir. An error that is ErrCache blames the
// folder, any other the module.
func (e *Engine) LoadFolder(dir string, abi hostabi.ABI, memoryBytes int64) error {
	e.abi, e.memory.limit = abi, uint64(memoryBytes)
	if err := e.loadFolder(dir); err != nil {
		return err
	}
	return e.loaded()
}

// loaded checks and links what was loaded.
func (e *Engine) loaded() error {
	if !e.fits(e.image) {
		return fmt.Errorf("module starts with %d bytes of memory, and the limit is %d",
			imageBytes(e.image), e.memory.limit)
	}
	return e.link()
}

func (e *Engine) loadModule(module []byte) error {
	p, err := wasmbin.Prepare(module)
	if err != nil {
		return err
	}
	// A copy of its own lets go of the module, of which the runs are parts.
	if e.image, err = wasmbin.DecodeImage(p.Image.Encode()); err != nil {
		return err
	}
	config := compiler()
	if e.Interpreter {
		config = configured(wazero.NewRuntimeConfigInterpreter())
	}
	ctx := compileContext()
	e.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	e.module, err = e.runtime.CompileModule(ctx, p.Full)
	return err
}

func (e *Engine) loadFolder(dir string) error {
	if e.Interpreter {
		return errors.New("the interpreter has no cache folder")
	}
	data, err := os.ReadFile(filepath.Join(dir, imageFile))
	if err != nil {
		return cacheFault(err)
	}
	if e.image, err = wasmbin.DecodeImage(data); err != nil {
		return cacheFault(err)
	}
	if e.abi.Prepares() { // the same module may be of another ABI elsewhere
		e.loadFrozen(dir)
	}
	skeleton, err := os.ReadFile(filepath.Join(dir, skeletonFile))
	if err != nil {
		return cacheFault(err)
	}
	return cacheFault(e.loadSkeleton(skeleton, filepath.Join(dir, codeFolder)))
}

// loadFrozen takes the frozen image if there is one that fits. It may have been made
// under another memory limit, and calls go without it.
func (e *Engine) loadFrozen(dir string) {
	data, err := os.ReadFile(filepath.Join(dir, FrozenFile))
	if err != nil {
		return
	}
	frozen, err := wasmbin.DecodeImage(data)
	fits := err == nil && frozen.Frozen && frozen.Freezable && e.image.Freezable &&
		frozen.Pages >= e.image.Pages && e.fits(frozen) &&
		slices.EqualFunc(frozen.Globals, e.image.Globals, sameGlobal)
	if fits {
		e.image = frozen
	}
}

func sameGlobal(a, b wasmbin.Global) bool { return a.Index == b.Index }

// loadSkeleton compiles a module of empty bodies, for which the folder has the machine
// code. Where wazero does not take that code it makes its own, of the empty bodies, and
// adds or replaces a file: so a hit is that the one file is still the same. It is held
// open meanwhile, for its number could be given to another otherwise.
func (e *Engine) loadSkeleton(skeleton []byte, dir string) error {
	path, err := codeFile(dir)
	if err != nil {
		return err
	}
	code, err := os.Open(path)
	if err != nil {
		return err
	}
	defer code.Close()
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return err
	}
	ctx := compileContext()
	e.runtime = wazero.NewRuntimeWithConfig(ctx, compiler().WithCompilationCache(cache))
	if e.module, err = e.runtime.CompileModule(ctx, skeleton); err != nil {
		return err
	}
	return unchanged(code, dir)
}

// unchanged reports an error unless file is the only one in wazero's folder.
func unchanged(file *os.File, dir string) error {
	path, err := codeFile(dir)
	if err != nil {
		return err
	}
	before, err := file.Stat()
	if err != nil {
		return err
	}
	now, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(before, now) {
		return errors.New("the machine code is not that of the module")
	}
	return nil
}

func (e *Engine) fits(i wasmbin.Image) bool { return imageBytes(i) <= e.memory.limit }

func imageBytes(i wasmbin.Image) uint64 { return uint64(i.Pages) * hostabi.PageSize }
