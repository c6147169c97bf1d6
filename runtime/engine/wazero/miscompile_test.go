package wazero

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/aircoding/air/internal/wasmbin"
)

// TestMiscompileIsCured runs compares that wazero's compiler gets wrong on amd64: wazero
// v1.12.0 loses the swapped operands of an ordered compare when its right side is an
// `and`. It fails when the compiler is right by itself, for then the cure can go.
func TestMiscompileIsCured(t *testing.T) {
	raw := module(t, "miscompiled")
	cured, err := wasmbin.Rewrite(raw, wasmbin.Clamp{})
	if err != nil {
		t.Fatal(err)
	}
	interpreter := configured(wazero.NewRuntimeConfigInterpreter())
	want := compares(t, interpreter, raw)
	// By hand: 5<<40|5 and 1<<42 share bit 42 at once, and none after one shift.
	if want["loop 5497558138885 4398046511104"] != 1 || want["branch -20 70368744177664"] != 0 || want["value -20 70368744177664"] != 0 {
		t.Errorf("the interpreter is wrong: %v", want)
	}
	if got := compares(t, interpreter, cured); !maps.Equal(got, want) {
		t.Errorf("cured, interpreted: %v", differences(got, want))
	}
	if got := compares(t, compiler(), cured); !maps.Equal(got, want) {
		t.Errorf("cured, compiled: %v", differences(got, want))
	}
	wrong := differences(compares(t, compiler(), raw), want)
	t.Logf("%d of %d calls are wrong without the cure", len(wrong), len(want))
	if runtime.GOARCH == "amd64" && len(wrong) == 0 {
		t.Error("wazero compiles these compares rightly now: drop the cure from internal/wasmbin")
	}
}

// compares calls every function with pairs of numbers.
func compares(t *testing.T, config wazero.RuntimeConfig, module []byte) map[string]int32 {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config)
	defer r.Close(ctx)
	m, err := r.Instantiate(ctx, module)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int32{}
	numbers := []int64{0, 1, -1, -20, 15, 1 << 42, 1 << 46, 5<<40 | 5, -1 << 63, 1<<31 | 1}
	for name := range m.ExportedFunctionDefinitions() {
		for _, x := range numbers {
			for _, y := range numbers {
				results, err := m.ExportedFunction(name).Call(ctx, uint64(x), uint64(y))
				if err != nil {
					t.Fatal(err)
				}
				got[fmt.Sprintf("%s %d %d", name, x, y)] = int32(results[0])
			}
		}
	}
	return got
}

func differences(got, want map[string]int32) []string {
	var list []string
	for _, call := range slices.Sorted(maps.Keys(want)) {
		if got[call] != want[call] {
			list = append(list, fmt.Sprintf("%s: got %d, want %d", call, got[call], want[call]))
		}
	}
	return list
}
