package wazero

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/wasmbin"
	"github.com/aircoding/air/wasmtests"
)

// FuzzRewriteAgrees runs valid random modules before and after rewriting. What a module
// does as it came in the interpreter is right; the raw module is never compiled, for
// there the compiler may be wrong.
func FuzzRewriteAgrees(f *testing.F) {
	wasmtests.Installed(f, "wasm-opt", "binaryen")
	source := rand.NewChaCha8([32]byte{}) // without a seed of its own: go test runs the same modules always
	for size := 500; size < 10_000; size += 500 {
		random := make([]byte, size+size/500%2)
		_, _ = source.Read(random)
		f.Add(random)
	}
	f.Fuzz(func(t *testing.T, random []byte) {
		before := randomModule(t, random)
		interpreter := configured(wazero.NewRuntimeConfigInterpreter())
		want, err := trace(interpreter, before)
		if err != nil {
			t.Skip(err)
		}
		after, err := wasmbin.Rewrite(before, wasmbin.Clamp{})
		if err != nil {
			t.Fatal(err)
		}
		engines := map[string]wazero.RuntimeConfig{"interpreter": interpreter}
		if !hasVectors(random) { // --denan knows no vectors, and the bits of a NaN may differ
			engines["compiler"] = compiler()
		}
		for name, config := range engines {
			got, err := trace(config, after)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(got+want, outOfTime) {
				continue
			}
			if got != want {
				t.Errorf("%s after rewriting:\n%s\nthe interpreter before:\n%s", name, got, want)
			}
		}
	})
}

// randomModule lets binaryen make a valid module of random bytes. Its loops count down a
// limit, and it makes no NaN, whose bits may differ rightly.
func randomModule(t *testing.T, random []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out.wasm")
	if err := os.WriteFile(in, append(random, 0), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-ttf", in, "-o", out, "--denan", "--enable-bulk-memory", "--enable-sign-ext",
		"--enable-nontrapping-float-to-int", "--enable-mutable-globals", "--enable-multivalue"}
	if len(random)%2 == 0 {
		args = append(args, "-O")
	}
	if hasVectors(random) {
		args = append(args, "--enable-simd")
	}
	if text, err := exec.Command("wasm-opt", args...).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, text)
	}
	module, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

func hasVectors(random []byte) bool { return len(random)%3 == 0 }

const outOfTime = "out of time"

// trace tells all that a module does: what it logs, how each of its functions ends for a
// few arguments, and what it leaves in memory. An error is a module that is not valid.
func trace(config wazero.RuntimeConfig, module []byte) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	r := wazero.NewRuntimeWithConfig(ctx, config.WithCloseOnContextDone(true).WithMemoryLimitPages(64))
	defer r.Close(context.Background())
	var b strings.Builder
	if err := fuzzingSupport(ctx, r, &b); err != nil {
		return "", err
	}
	compiled, err := r.CompileModule(ctx, module)
	if err != nil {
		return "", err
	}
	m, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig())
	if err != nil {
		return ending(ctx, err), nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.ExportedFunctionDefinitions())) {
		for _, seed := range []uint64{0, 1, 0x8000000080000000, 0x3ff0000041200001} {
			if limit := m.ExportedFunction("hangLimitInitializer"); limit != nil {
				_, _ = limit.Call(ctx)
			}
			f := m.ExportedFunction(name)
			results, err := f.Call(ctx, arguments(f.Definition().ParamTypes(), seed)...)
			fmt.Fprintf(&b, "%s %x: %s %s\n", name, seed, values(f.Definition().ResultTypes(), results), ending(ctx, err))
		}
	}
	if memory := m.Memory(); memory != nil {
		view, _ := memory.Read(0, memory.Size())
		fmt.Fprintf(&b, "memory %d %x\n", len(view), sha256.Sum256(view))
	}
	return b.String(), nil
}

// fuzzingSupport is what binaryen's random modules import.
func fuzzingSupport(ctx context.Context, r wazero.Runtime, b *strings.Builder) error {
	builder := r.NewHostModuleBuilder("fuzzing-support")
	for name, kind := range map[string]api.ValueType{
		"log-i32": api.ValueTypeI32, "log-i64": api.ValueTypeI64,
		"log-f32": api.ValueTypeF32, "log-f64": api.ValueTypeF64, "log-v128": v128,
	} {
		log := func(_ context.Context, stack []uint64) {
			fmt.Fprintf(b, "%s %s\n", name, values([]api.ValueType{kind}, stack))
		}
		builder.NewFunctionBuilder().WithGoFunction(api.GoFunc(log), []api.ValueType{kind}, nil).Export(name)
	}
	_, err := builder.Instantiate(ctx)
	return err
}

// v128 is the type of vectors, which are two words to wazero.
const v128 api.ValueType = 0x7b

func arguments(types []api.ValueType, seed uint64) []uint64 {
	var list []uint64
	for i, kind := range types {
		switch n := seed + uint64(i); kind {
		case api.ValueTypeI32, api.ValueTypeF32:
			list = append(list, uint64(uint32(n)))
		case v128:
			list = append(list, n, ^n)
		default:
			list = append(list, n)
		}
	}
	return list
}

// values writes words without the upper half of a narrow one, which may hold anything.
func values(types []api.ValueType, words []uint64) string {
	var b strings.Builder
	for _, kind := range types {
		if len(words) == 0 {
			break
		}
		switch kind {
		case api.ValueTypeI32, api.ValueTypeF32:
			fmt.Fprintf(&b, " %x", uint32(words[0]))
		case v128:
			fmt.Fprintf(&b, " %x", words[0])
			words = words[1:]
			fallthrough
		default:
			fmt.Fprintf(&b, " %x", words[0])
		}
		words = words[1:]
	}
	return b.String()
}

// ending is the first line of an error: traces have addresses in the names of functions.
func ending(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return outOfTime
	}
	if err == nil {
		return "returned"
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// FuzzCallsAreAlike runs calls one after the other in one engine, and each alone in an
// engine of its own.
func FuzzCallsAreAlike(f *testing.F) {
	guests := []string{"guests/echo", "guests/keeper-memory", "guests/status", "guests/trap", "guests/exit", "guests/early", "guests/relay",
		"guests/nested", "guests/keeper-table", "guests/keeper-segment", "guests/state", "guests/initlog", "hostile/inittrap"}
	for i := range guests {
		f.Add([]byte("\na\nbb\n\nccc\n"), uint8(i))
	}
	f.Fuzz(func(t *testing.T, inputs []byte, guest uint8) {
		m := wasmtests.Module(t, guests[int(guest)%len(guests)])
		for _, freeze := range []bool{false, true} {
			one := load(t, m)
			if freeze {
				one.Freeze()
			}
			for n, input := range strings.SplitN(string(inputs), "\n", 8) {
				got := outcome(one, input)
				if want := outcome(load(t, m), input); got != want {
					t.Errorf("call %d, freeze %t: %s, and alone: %s", n, freeze, got, want)
				}
				if len(input)%2 == 0 {
					one.Reset()
				}
			}
		}
	})
}

// quiet is a host without tools.
type quiet struct{}

func (quiet) ToolCall(string, []byte) ([]byte, hostabi.Code) { return []byte(`{"ok":true}`), 0 }
func (quiet) Emit(int32, []byte) hostabi.Code                { return 0 }

func outcome(e *Engine, input string) string {
	c := call(input)
	c.Host = quiet{}
	status, err := e.Run(c)
	return fmt.Sprintf("status %d, error %v, output %q, log %q, refused %t %t",
		status, err, c.Output, c.Log, c.OutputRefused, c.MemoryRefused)
}
