package wazero

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/cpu"

	"github.com/aircoding/air/internal/wasmbin"
)

// Identity names what the machine code in a cache folder belongs to: the engine, the
// rewriter, and the features of the processor that wazero makes a difference between. It
// knows no version of the engine in a test binary, which carries none.
func Identity() string {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/tetratelabs/wazero" {
				version = d.Version
			}
		}
	}
	x, arm := cpu.X86, cpu.ARM64
	return fmt.Sprintf("wazero %s, rewriter %d, %s/%s, sse4.1 %t, bmi1 %t, bmi2 %t, popcnt %t, atomics %t",
		version, wasmbin.Version, runtime.GOOS, runtime.GOARCH,
		x.HasSSE41, x.HasBMI1, x.HasBMI2, x.HasPOPCNT, arm.HasATOMICS)
}
