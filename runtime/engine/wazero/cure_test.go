package wazero

import (
	"bytes"
	"context"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/aircoding/air/internal/wasmbin"
	"github.com/aircoding/air/wasmtests"
)

// TestCureIsOfThisEngine fails when wazero is updated: what the cure leaves alone rests
// on its source.
func TestCureIsOfThisEngine(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(mod, []byte("github.com/tetratelabs/wazero v1.12.0\n")) {
		t.Error("read wazero anew by what internal/wasmbin/cure.go says, fuzz FuzzCure, and then raise the version here")
	}
}

// TestCure runs functions that are made to be miscompiled, and fails when none is: then
// the cure can go, or the generator is worth nothing.
func TestCure(t *testing.T) {
	wrong, total := 0, 0
	for seed := range byte(20 / wasmtests.Slowdown) {
		var functions [][]byte
		source := rand.NewChaCha8([32]byte{seed})
		for range 100 {
			random := make([]byte, 200+int(source.Uint64()%600))
			_, _ = source.Read(random)
			functions = append(functions, function(random))
		}
		w := checkCure(t, functions)
		wrong, total = wrong+w, total+len(functions)
	}
	t.Logf("%d of %d functions are wrong without the cure", wrong, total)
	if wrong == 0 {
		t.Error("wazero compiles all of them rightly: if it is cured, drop the cure from internal/wasmbin")
	}
}

// FuzzCure runs one function.
func FuzzCure(f *testing.F) {
	source := rand.NewChaCha8([32]byte{})
	for size := 10; size < 1000; size += size / 3 {
		random := make([]byte, size)
		_, _ = source.Read(random)
		f.Add(random)
	}
	f.Fuzz(func(t *testing.T, random []byte) {
		if len(random) > 4096 {
			t.Skip()
		}
		checkCure(t, [][]byte{function(random)})
	})
}

// checkCure compares what functions return when they are interpreted as they are and
// compiled after rewriting. It tells how many are compiled wrongly without that.
func checkCure(t *testing.T, functions [][]byte) (wrong int) {
	t.Helper()
	raw := moduleOf(functions)
	cured, err := wasmbin.Rewrite(raw, wasmbin.Clamp{})
	if err != nil {
		t.Fatal(err)
	}
	want := returned(t, configured(wazero.NewRuntimeConfigInterpreter()), raw, len(functions))
	without := returned(t, compiler(), raw, len(functions))
	got := returned(t, compiler(), cured, len(functions))
	for i := range functions {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("compiled after rewriting: %x, interpreted: %x, by %s", got[i], want[i], hex.EncodeToString(functions[i]))
		}
		if !slices.Equal(without[i], want[i]) {
			wrong++
		}
	}
	return wrong
}

// returned calls each function with a few numbers.
func returned(t *testing.T, config wazero.RuntimeConfig, module []byte, functions int) [][]uint64 {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config)
	defer r.Close(ctx)
	m, err := r.Instantiate(ctx, module)
	if err != nil {
		t.Fatalf("%v: %x", err, module)
	}
	results := make([][]uint64, functions)
	for i := range results {
		for _, x := range []uint64{0, 1, 6, 1 << 31, 1<<63 | 5, 1<<64 - 1} {
			for _, y := range []uint64{3, 1<<64 - 2, 1 << 63} {
				if _, err := m.ExportedFunction("reset").Call(ctx); err != nil {
					t.Fatal(err)
				}
				got, err := m.ExportedFunction(strconv.Itoa(i)).Call(ctx, x&(1<<32-1), y>>32, x, y)
				if err != nil {
					t.Fatalf("%v: %x", err, module)
				}
				results[i] = append(results[i], got...)
			}
		}
	}
	return results
}
