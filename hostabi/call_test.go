package hostabi

import (
	"bytes"
	"errors"
	"fmt"
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

// recorder is a Host that answers {} and remembers.
type recorder struct {
	asked []string
	code  Code
}

func (r *recorder) ToolCall(name string, request []byte) ([]byte, Code) {
	r.asked = append(r.asked, name+" "+string(request))
	return []byte(`{"ok":true}`), r.code
}

func (r *recorder) Emit(kind int32, payload []byte) Code {
	r.asked = append(r.asked, fmt.Sprintf("emit %d %s", kind, payload))
	return r.code
}

func function(t testing.TB, name string) Function {
	t.Helper()
	all := Functions()
	i := slices.IndexFunc(all, func(f Function) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no function %s", name)
	}
	return all[i]
}

// run calls a function as compiled code does, with garbage in the upper halves.
func run(t testing.TB, c *Call, m Memory, name string, params ...uint64) int32 {
	t.Helper()
	f := function(t, name)
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
		t.Errorf("%s left %#x in the upper half of its result", name, stack[0])
	}
	return int32(uint32(stack[0]))
}

func newCall() (*Call, *recorder) {
	host := &recorder{}
	c := &Call{Input: []byte(`{"tool":"a.b"}`), Host: host, Limits: Limits{OutputBytes: 10, HostCalls: 3, LogBytes: 8}}
	c.Begin()
	return c, host
}

// page is memory of 64 KiB with a tool name at 100, a request at 200 and half of a
// character at 300.
func page() memory {
	m := make(memory, PageSize)
	copy(m[100:], "fs.read")
	copy(m[200:], `{"path":"a"}`)
	m[300] = 0xc3
	return m
}

// TestReach lists every function that a guest can import and what it can touch. Two
// doors lead to the registry; nothing else leads anywhere.
func TestReach(t *testing.T) {
	reach := map[Reach][]string{}
	for _, f := range Functions() {
		reach[f.Reach] = append(reach[f.Reach], f.Name)
	}
	for _, names := range reach {
		slices.Sort(names)
	}
	want := map[Reach]string{
		ReachRegistry: "emit tool_call",
		ReachTime:     "clock_res_get clock_time_get poll_oneoff",
		ReachRandom:   "random_get",
		ReachLog:      "fd_write",
	}
	for r, names := range want {
		if got := strings.Join(reach[r], " "); got != names {
			t.Errorf("%s: %s, want %s", r, got, names)
		}
	}
	if n := len(reach[ReachNothing]); n != 3+41 || len(reach) != 5 {
		t.Errorf("%d functions reach nothing, in %d classes: %v", n, len(reach), reach[ReachNothing])
	}
}

// TestWithoutEffect calls every WASI function that is not carried out.
func TestWithoutEffect(t *testing.T) {
	known := wasiCalls()
	for _, f := range Functions() {
		if _, carriedOut := known[f.Name]; f.Module != WASIModule || carriedOut || f.Name == "proc_exit" {
			continue
		}
		c, host := newCall()
		m := page()
		if got := run(t, c, m, f.Name); got != int32(wasiENOSYS) || len(host.asked) > 0 || !bytes.Equal(m, page()) {
			t.Errorf("%s: %d", f.Name, got)
		}
	}
}

// TestG4Pointers passes pointers out of range, overflowing, odd, and into the middle of
// a character, to every function that takes one.
func TestG4Pointers(t *testing.T) {
	const end, wild = PageSize, 0xfffffff0
	tests := []struct {
		name   string
		params []uint64
		want   int32
	}{
		{"input_read", []uint64{end, 1, 0}, EFAULT},
		{"input_read", []uint64{end - 4, 14, 0}, EFAULT},
		{"input_read", []uint64{wild, 100, 0}, EFAULT},
		{"input_read", []uint64{3, 100, 0}, 14},
		{"input_read", []uint64{0, 0xffffffff, 4}, 10},
		{"input_read", []uint64{0, 100, 14}, 0},
		{"input_read", []uint64{0, 100, 0xffffffff}, 0},
		{"output_write", []uint64{end - 1, 2}, EFAULT},
		{"output_write", []uint64{wild, 0x20}, EFAULT},
		{"output_write", []uint64{0, 0xffffffff}, EFAULT},
		{"output_write", []uint64{0, 11}, E2BIG},
		{"output_write", []uint64{end, 0}, 0},
		{"tool_call", []uint64{wild, 7, 200, 12}, EFAULT},
		{"tool_call", []uint64{100, 7, wild, 12}, EFAULT},
		{"tool_call", []uint64{300, 1, 200, 12}, EFAULT},
		{"tool_call", []uint64{500, MaxToolName + 1, 200, 12}, E2BIG},
		{"tool_call", []uint64{100, 7, 200, 12}, 11},
		{"result_read", []uint64{0, 100, 0}, EBADSTATE},
		{"emit", []uint64{0, end - 1, 2}, EFAULT},
		{"emit", []uint64{4, 200, 2}, EBADSTATE},
		{"emit", []uint64{0xffffffff, 200, 2}, EBADSTATE},
		{"emit", []uint64{1, 200, 12}, 0},
		{"args_sizes_get", []uint64{wild, 0}, int32(wasiEFAULT)},
		{"environ_sizes_get", []uint64{0, end - 3}, int32(wasiEFAULT)},
		{"clock_res_get", []uint64{0, end - 7}, int32(wasiEFAULT)},
		{"clock_res_get", []uint64{2, 0}, int32(wasiEINVAL)},
		{"clock_time_get", []uint64{0, 0, end - 7}, int32(wasiEFAULT)},
		{"clock_time_get", []uint64{0, 0, 1}, 0},
		{"clock_time_get", []uint64{3, 0, 0}, int32(wasiEINVAL)},
		{"fd_fdstat_get", []uint64{0, end - 23}, int32(wasiEFAULT)},
		{"fd_fdstat_get", []uint64{4, 0}, int32(wasiEBADF)},
		{"fd_prestat_get", []uint64{3, 0}, int32(wasiEBADF)},
		{"fd_write", []uint64{1, wild, 1, 0}, int32(wasiEFAULT)},
		{"fd_write", []uint64{1, 0, maxVector + 1, 0}, int32(wasiEINVAL)},
		{"fd_write", []uint64{1, 0, 1, end - 3}, int32(wasiEFAULT)},
		{"fd_write", []uint64{0, 0, 1, 0}, int32(wasiEBADF)},
		{"random_get", []uint64{end - 1, 2}, int32(wasiEFAULT)},
		{"random_get", []uint64{0, maxRandom + 1}, int32(wasiEINVAL)},
		{"poll_oneoff", []uint64{end - 47, 0, 1, 0}, int32(wasiEFAULT)},
		{"poll_oneoff", []uint64{0, end - 31, 1, 0}, int32(wasiEFAULT)},
		{"poll_oneoff", []uint64{0, 0, maxSubscriptions + 1, 0}, int32(wasiEINVAL)},
		{"poll_oneoff", []uint64{0, 0, 1, end - 3}, int32(wasiEFAULT)},
	}
	for _, test := range tests {
		c, _ := newCall()
		if got := run(t, c, page(), test.name, test.params...); got != test.want {
			t.Errorf("%s%x: got %d, want %d", test.name, test.params, got, test.want)
		}
	}
}

func TestG22NothingBeforeTheCall(t *testing.T) {
	for _, f := range airFunctions() {
		host := &recorder{}
		c := &Call{Input: []byte("{}"), Host: host, Limits: Limits{OutputBytes: 9, HostCalls: 9, LogBytes: 9}}
		if got := run(t, c, page(), f.Name, 100, 2); got != EBADSTATE || len(host.asked) > 0 || len(c.Output) > 0 {
			t.Errorf("%s: %d", f.Name, got)
		}
	}
}

func TestHostCallsAreCounted(t *testing.T) {
	c, host := newCall()
	m := page()
	for i, want := range []int32{11, 0, 11, EQUOTA, EQUOTA} {
		name, params := "tool_call", []uint64{100, 7, 200, 12}
		if i == 1 {
			name, params = "emit", []uint64{1, 200, 12}
		}
		if got := run(t, c, m, name, params...); got != want {
			t.Errorf("call %d: got %d, want %d", i, got, want)
		}
	}
	want := []string{`fs.read {"path":"a"}`, `emit 1 {"path":"a"}`, `fs.read {"path":"a"}`}
	if !slices.Equal(host.asked, want) {
		t.Errorf("host saw %q", host.asked)
	}
}

func TestEnvelopeStaysUntilTheNextCall(t *testing.T) {
	c, host := newCall()
	m := page()
	run(t, c, m, "tool_call", 100, 7, 200, 12)
	for range 2 {
		if n := run(t, c, m, "result_read", 1000, 100, 1); n != 10 || string(m[1000:1010]) != `"ok":true}` {
			t.Errorf("got %d, %q", n, m[1000:1010])
		}
	}
	host.code = ECANCELED
	if got := run(t, c, m, "tool_call", 100, 7, 200, 12); got != ECANCELED {
		t.Errorf("got %d", got)
	}
	if got := run(t, c, m, "result_read", 1000, 100, 0); got != EBADSTATE {
		t.Errorf("an old envelope is still there: %d", got)
	}
}

func TestOutputIsBounded(t *testing.T) {
	c, _ := newCall()
	m := page()
	for _, want := range []int32{0, E2BIG, 0} { // 6, 6 more, 4 more
		size := uint64(6)
		if len(c.Output) == 6 && want == 0 {
			size = 4
		}
		if got := run(t, c, m, "output_write", 100, size); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	if string(c.Output) != "fs.reafs.r" {
		t.Errorf("output %q", c.Output)
	}
}

func TestLogIsBounded(t *testing.T) {
	c, _ := newCall() // 8 bytes
	m := page()
	copy(m[0:], "\x64\x00\x00\x00\x07\x00\x00\x00\x64\x00\x00\x00\x07\x00\x00\x00") // "fs.read" twice
	if got := run(t, c, m, "fd_write", 2, 0, 2, 400); got != 0 || m[400] != 14 {
		t.Errorf("got %d, written %d", got, m[400])
	}
	if string(c.Log) != "fs.readf" {
		t.Errorf("log %q", c.Log)
	}
	if got := run(t, c, m, "emit", 0, 200, 12); got != EQUOTA {
		t.Errorf("a log line over the limit: %d", got)
	}
}

func TestLogLinesAndPrintsShareTheLimit(t *testing.T) {
	c, _ := newCall()
	m := page()
	if got := run(t, c, m, "emit", 0, 100, 5); got != 0 {
		t.Errorf("got %d", got)
	}
	copy(m[0:], "\x64\x00\x00\x00\x07\x00\x00\x00")
	run(t, c, m, "fd_write", 1, 0, 1, 400)
	if string(c.Log) != "fs." {
		t.Errorf("log %q", c.Log)
	}
}

func TestProcExit(t *testing.T) {
	c, _ := newCall()
	var exit *ExitError
	if err := function(t, "proc_exit").Call(c, page(), []uint64{3}); !errors.As(err, &exit) || exit.Status != 3 {
		t.Errorf("got %v", err)
	}
}

func TestRandom(t *testing.T) {
	c, _ := newCall()
	m := page()
	if got := run(t, c, m, "random_get", 1000, 32); got != 0 || bytes.Equal(m[1000:1032], make([]byte, 32)) {
		t.Errorf("got %d, %x", got, m[1000:1032])
	}
	if !bytes.Equal(m[1032:1040], make([]byte, 8)) {
		t.Error("wrote past the end")
	}
}
