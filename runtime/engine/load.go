package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/wasmbin"
)

// code is a module that is fit to be handed to a worker.
type code struct {
	bytes  []byte
	sha256 string
	pages  uint32 // of the memory that it starts with
}

// read returns the module's bytes after the import proof, for compiling. They are hashed
// here, where they are used: a file that was verified earlier may be another one by now.
func (m Module) read() (code, error) {
	bytes, err := readModule(m.Path)
	if err != nil {
		return code{}, fault.New(fault.Integrity, "module_unreadable", "module of %s: %w", m.Tool, err).
			WithHint("install the capability again")
	}
	sum := sha256.Sum256(bytes)
	c := code{bytes: bytes, sha256: hex.EncodeToString(sum[:])}
	if m.SHA256 != c.sha256 {
		return code{}, fault.New(fault.Integrity, "module_changed", "module of %s has sha256 %s, verified was %q", m.Tool, c.sha256, m.SHA256).
			WithHint("the file changed on disk: install the capability again")
	}
	// No engine sees a module that asks for more than the ABI gives.
	if c.pages, err = wasmbin.Prove(bytes); err != nil {
		return code{}, err
	}
	return c, m.checkMemory(c.pages)
}

func readModule(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > hostabi.MaxModule {
		return nil, fmt.Errorf("%s is not a regular file of at most %d bytes", path, hostabi.MaxModule)
	}
	return os.ReadFile(path)
}

// checkMemory refuses a module that starts with more memory than its limit.
func (m Module) checkMemory(pages uint32) error {
	limit := m.Limits.WithDefaults().MemoryBytes
	if need := int64(pages) * hostabi.PageSize; need > limit {
		return fault.New(fault.InvalidInput, "initial_memory", "module of %s starts with %d bytes of memory, its limit is %d", m.Tool, need, limit).
			WithHint("raise limits.memory_bytes in the manifest")
	}
	return nil
}
