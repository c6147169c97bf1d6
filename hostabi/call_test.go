package hostabi

import (
	"slices"
	"strings"
	"testing"
)

// memory is a linear memory of a slice.
type memory []byte

func (m memory) Read(at, size uint32) ([]byte, bool) {
	if uint64(at)+uint64(size) > uint64(len(m)) {
		return nil, false
	}
	return m[at : at+size], true
}

func (m memory) Write(at uint32, b []byte) bool {
	view, ok := m.Read(at, uint32(len(b)))
	copy(view, b)
	return ok
}

func function(t testing.TB, abi ABI, name string) Function {
	t.Helper()
	all := Functions(abi)
	i := slices.IndexFunc(all, func(f Function) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no function %s", name)
	}
	return all[i]
}

// run calls a function of air.v1.
func run(t testing.TB, c *Call, m Memory, name string, params ...uint64) int32 {
	t.Helper()
	return perform(t, function(t, AirV1, name), c, m, params)
}

// runCommand calls a function that a command imports.
func runCommand(t testing.TB, c *Call, m Memory, name string, params ...uint64) int32 {
	t.Helper()
	return perform(t, function(t, WASICommand, name), c, m, params)
}

// perform calls a function as compiled code does, with garbage in the upper halves.
func perform(t testing.TB, f Function, c *Call, m Memory, params []uint64) int32 {
	t.Helper()
	stack := make([]uint64, max(len(f.Params), 1))
	for i, p := range params {
		stack[i] = p
		if f.Params[i] == I32 {
			stack[i] |= 0xdeadbeef << 32
		}
	}
	if err := f.Call(c, m, stack); err != nil {
		t.Fatal(err)
	}
	if stack[0]>>32 != 0 {
		t.Errorf("%s left %#x in the upper half of its result", f.Name, stack[0])
	}
	return int32(uint32(stack[0]))
}

// page is memory of 64 KiB with a text at 100.
func page() memory {
	m := make(memory, PageSize)
	copy(m[100:], "fs.read")
	return m
}

// TestFunctions lists what a guest can import.
func TestFunctions(t *testing.T) {
	names := map[string][]string{}
	for _, f := range Functions(AirV1) {
		names[f.Module] = append(names[f.Module], f.Name)
	}
	slices.Sort(names[Module])
	if got := strings.Join(names[Module], " "); got != "emit input_read output_write result_read tool_call" {
		t.Errorf("air_v1: %s", got)
	}
	if n := len(names[WASIModule]); n != 46 || len(names) != 2 {
		t.Errorf("%d functions of WASI, in %d modules", n, len(names))
	}
}
