package wazero

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/aircoding/air/internal/wasmbin"
)

// kernelTurns is how often each kernel runs as it is and rewritten, in turn. A run takes a
// millisecond or two: most get through before the scheduler looks for something else.
const kernelTurns = 151

// BenchmarkRewriterCost compares loops that only compute with what the rewriter makes of
// them, and prints one line "ratio NAME VALUE" for each, for make bench. It is here, and
// not with the other comparisons, because only this package imports wazero. The turns are
// its own, so it runs with -benchtime 1x.
func BenchmarkRewriterCost(b *testing.B) {
	module, err := os.ReadFile("../../../wasmtests/bench/c/kernels.wasm")
	if err != nil {
		b.Fatal(err)
	}
	rewritten, err := wasmbin.Rewrite(module, wasmbin.Clamp{})
	if err != nil {
		b.Fatal(err)
	}
	plain, cured := kernels(b, module), kernels(b, rewritten)
	for _, k := range []struct {
		name    string
		n, want uint64
	}{
		{"sieve", 1 << 18, 23000},    // primes below 2^18
		{"matmul", 1, 0},             // no number to be known: both must agree
		{"fib", 27, 196418},          // F(27)
		{"crc", 9, 0xcbf43926},       // the check value of CRC-32
		{"crc", 9 << 14, 0x4e627c6e}, // zlib's crc32 of as many digits
	} {
		compareKernel(b, k.name, k.n, k.want, plain, cured)
	}
}

func kernels(b *testing.B, module []byte) api.Module {
	b.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())
	b.Cleanup(func() { r.Close(ctx) })
	instance, err := r.Instantiate(ctx, module)
	if err != nil {
		b.Fatal(err)
	}
	return instance
}

// compareKernel checks a kernel's result, unless want is 0, and compares medians.
func compareKernel(b *testing.B, name string, n, want uint64, plain, cured api.Module) {
	b.Helper()
	var times [2][]time.Duration
	for range kernelTurns {
		for i, m := range []api.Module{plain, cured} {
			start := time.Now()
			result, err := m.ExportedFunction(name).Call(context.Background(), n)
			times[i] = append(times[i], time.Since(start))
			switch {
			case err != nil:
				b.Fatal(err)
			case want == 0:
				want = result[0]
			case result[0] != want:
				b.Fatalf("%s(%d) = %d, want %d", name, n, result[0], want)
			}
		}
	}
	of, value := medianOf(times[0]), medianOf(times[1])
	if of < 100*time.Microsecond {
		return // too short to compare: only its result counts
	}
	fmt.Printf("%-44s %10v of %10v\n", "rewritten_"+name, value.Round(time.Microsecond), of.Round(time.Microsecond))
	fmt.Printf("ratio rewritten_%s/plain %.3f\n", name, float64(value)/float64(of))
}

func medianOf(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
