package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/wasmbin"
	"github.com/aircoding/air/runtime"
)

// Module is a guest's code and what bounds it.
type Module struct {
	Capability string // workers are never shared between capabilities
	Tool       string
	Path       string      // of the module's file
	SHA256     string      // of its bytes, hex: what is run is what was verified; never empty
	ABI        hostabi.ABI // "": air.v1
	Limits     runtime.Limits
	Config     json.RawMessage
}

// complete returns m with its limits and ABI filled in.
func (m Module) complete() (Module, error) {
	m.ABI = cmp.Or(m.ABI, hostabi.AirV1)
	m.Limits = m.Limits.WithDefaults()
	if err := m.Limits.Validate(); err != nil {
		return m, fault.New(fault.InvalidInput, "bad_limits", "limits of %s: %w", m.Tool, err)
	}
	if len(m.Tool) > hostabi.MaxToolName {
		return m, fault.New(fault.InvalidInput, "bad_tool", "tool name of %d bytes, the limit is %d", len(m.Tool), hostabi.MaxToolName)
	}
	return m, nil
}

// workerKey is what two calls must have in common to use the same worker.
type workerKey struct {
	capability, sha256 string
	abi                hostabi.ABI
	limits             runtime.Limits
}

func (m Module) key() workerKey {
	return workerKey{m.Capability, m.SHA256, m.ABI, m.Limits}
}

// overhead is what a worker may use besides its guest's memory and the buffers of a call.
const overhead = 256 << 20

// need is how much of a pool's bytes a worker of the module counts for.
func (m Module) need() int64 { return m.Limits.MemoryBytes + m.buffers() + overhead }

// buffers is what a worker needs at most for what it keeps of a call: the input, one
// answer, the image of a memory that is being frozen; output and log twice and a quarter,
// for they grow by copying.
func (m Module) buffers() int64 {
	image := min(m.Limits.MemoryBytes, hostabi.MaxImage)
	return hostabi.MaxCall + hostabi.MaxAnswer + image + (m.Limits.OutputBytes+m.Limits.LogBytes)*9/4
}

func (m Module) loadConfig(cacheDir string) hostabi.LoadConfig {
	l := m.Limits
	return hostabi.LoadConfig{
		CacheDir: []byte(cacheDir), ABI: m.ABI, MemoryBytes: l.MemoryBytes, BufferBytes: m.buffers(),
		Limits: hostabi.Limits{OutputBytes: l.OutputBytes, HostCalls: l.HostCalls, LogBytes: l.LogBytes},
	}
}

// read returns the module's bytes and the pages of memory that it starts with, after the
// import proof, for compiling. The bytes are hashed here, where they are used: a file that
// was verified earlier may be another one by now.
func (m Module) read() (module []byte, pages uint32, err error) {
	module, err = readModule(m.Path)
	if err != nil {
		return nil, 0, fault.New(fault.Integrity, "module_unreadable", "module of %s: %w", m.Tool, err).
			WithHint("install the capability again")
	}
	sum := sha256.Sum256(module)
	if got := hex.EncodeToString(sum[:]); m.SHA256 != got {
		return nil, 0, fault.New(fault.Integrity, "module_changed", "module of %s has sha256 %s, verified was %q", m.Tool, got, m.SHA256).
			WithHint("the file changed on disk: install the capability again")
	}
	// No engine sees a module that asks for more than the ABI gives.
	if pages, err = wasmbin.Prove(module, m.ABI); err != nil {
		return nil, 0, err
	}
	return module, pages, m.checkMemory(pages)
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
	limit := m.Limits.MemoryBytes
	if need := int64(pages) * hostabi.PageSize; need > limit {
		return fault.New(fault.InvalidInput, "initial_memory", "module of %s starts with %d bytes of memory, its limit is %d", m.Tool, need, limit).
			WithHint("raise limits.memory_bytes in the manifest")
	}
	return nil
}

// checkImage looks at an image as at all that comes from a worker in which a guest ran.
func (m Module) checkImage(data []byte) error {
	image, err := wasmbin.DecodeImage(data)
	if err != nil {
		return err
	}
	if !image.Frozen {
		return fmt.Errorf("image is of a module that was not started")
	}
	if need := int64(image.Pages) * hostabi.PageSize; need > m.Limits.MemoryBytes {
		return fmt.Errorf("image has %d bytes of memory, the limit is %d", need, m.Limits.MemoryBytes)
	}
	return nil
}

// invocation is what a guest of air.v1 reads as its input.
type invocation struct {
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input"`
	Config json.RawMessage `json:"config"`
}

// input is what the guest reads in one call: the invocation, or the tool's input alone
// where it knows nothing of air.
func (m Module) input(input json.RawMessage) ([]byte, error) {
	var said any = orEmpty(input)
	if m.ABI.KnowsAir() {
		said = invocation{m.Tool, orEmpty(input), orEmpty(m.Config)}
	}
	text, err := json.Marshal(said)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "bad_json", "input of %s: %w", m.Tool, err)
	}
	if len(text) > hostabi.MaxInvocation {
		return nil, fault.New(fault.InvalidInput, "input_bytes", "input and config of %s have %d bytes, the limit is %d", m.Tool, len(text), hostabi.MaxInvocation)
	}
	return text, nil
}

func orEmpty(object json.RawMessage) json.RawMessage {
	if len(object) == 0 {
		return json.RawMessage(`{}`)
	}
	return object
}
