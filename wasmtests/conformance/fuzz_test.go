package conformance

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/runtime/engine/wazero"
	"github.com/aircoding/air/wasmtests"
)

// FuzzHostFunctions has a real guest make any host calls, with any parameters and in any
// order. The compiler, from a frozen image, and the interpreter, from scratch, agree on
// all that comes of it; what is returned is documented; and memory changes only where a
// call may write.
func FuzzHostFunctions(f *testing.F) {
	compiler, interpreter := &wazero.Engine{}, &wazero.Engine{Interpreter: true}
	for _, e := range []*wazero.Engine{compiler, interpreter} {
		if err := e.Load(wasmtests.Module(f, "guests/puppet"), hostabi.AirV1, memoryBytes); err != nil {
			f.Fatal(err)
		}
	}
	if compiler.Freeze() == nil {
		f.Fatal("the puppet cannot be frozen")
	}
	for _, seed := range seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &choices{data}
		s := &script{emits: r.byte()&1 == 1}
		limits := hostabi.Limits{OutputBytes: 64 << 20, HostCalls: int64(r.byte()), LogBytes: int64(r.byte())}
		if s.emits {
			limits.OutputBytes, limits.HostCalls = int64(r.byte())<<4, 1000
		}
		s.steps = randomSteps(r, s.emits)
		answer := bytes.Repeat([]byte("answer "), int(r.byte()))
		code := -hostabi.Code(r.byte() % 6)

		a := judge(t, compiler, s, limits, &recorder{answer: answer, code: code})
		b := judge(t, interpreter, s, limits, &recorder{answer: answer, code: code})
		sameTrace(t, s, a, b)
	})
}

// choices takes decisions from fuzzed bytes; zeros when they are used up.
type choices struct{ data []byte }

func (c *choices) byte() byte {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return b
}

// param is any number, or one of those at which something changes.
func (c *choices) param() uint64 {
	places := []uint64{
		0, 1, 2, 3, 7, 8, 79, 80, 128, 129, 1000, 1024, 1025, hostabi.MaxEmit, hostabi.MaxEmit + 1,
		end - 48, end - 24, end - 8, end - 4, end - 1, end, end + 1, 1 << 20, 1<<20 + 1,
		0x7fffffff, 0x80000000, wild, 0xfffffffc, 0xffffffff, 1 << 32, garbage | 1000, 1<<64 - 1,
	}
	choice := c.byte()
	if int(choice) < 4*len(places) {
		return places[choice/4]
	}
	var b [8]byte
	for i := range choice & 7 {
		b[i] = c.byte()
	}
	return binary.LittleEndian.Uint64(b[:])
}

// randomSteps leaves out what would report over the puppet's reports, and sleeps of random
// length: poll_oneoff has to read what nothing has written.
func randomSteps(c *choices, emits bool) []step {
	all := functions()
	var steps []step
	wrote := false
	for len(c.data) > 0 && len(steps) < 40 {
		f := all[int(c.byte())%len(all)]
		s := step{function: f.Name}
		for range f.Params {
			s.params = append(s.params, c.param())
		}
		sleeps := f.Name == "poll_oneoff" && (wrote || uint32(s.params[0]) < recordSize)
		if sleeps || emits && f.Name == "emit" {
			continue
		}
		wrote = wrote || len(writes(s, 1)) > 0
		steps = append(steps, s)
	}
	return steps
}

// span is a part of memory.
type span struct{ at, size uint64 }

// writes are where a call may write that returned a result.
func writes(s step, result int32) []span {
	p := func(i int) uint64 { return uint64(uint32(s.params[i])) }
	switch s.function {
	case "input_read", "result_read":
		return []span{{p(0), uint64(max(result, 0))}}
	case "args_sizes_get", "environ_sizes_get":
		return []span{{p(0), 4}, {p(1), 4}}
	case "clock_res_get":
		return []span{{p(1), 8}}
	case "clock_time_get":
		return []span{{p(2), 8}}
	case "fd_fdstat_get":
		return []span{{p(1), 24}}
	case "fd_write":
		return []span{{p(3), 4}}
	case "poll_oneoff":
		return []span{{p(1), 32 * p(2)}, {p(3), 4}}
	case "random_get":
		return []span{{p(0), p(1)}}
	}
	return nil
}

// judge runs a script and checks what can be said about any.
func judge(t *testing.T, e Engine, s *script, limits hostabi.Limits, host *recorder) *trace {
	got, err := perform(e, s, limits, host)
	if err != nil {
		t.Fatal(err)
	}
	exits := slices.ContainsFunc(s.steps, func(s step) bool { return s.function == "proc_exit" })
	if exits != (got.err != nil) || exits && !strings.Contains(got.err.Error(), "proc_exit(") {
		t.Fatalf("the guest ended with: %v", got.err)
	}
	if int64(len(got.log)) > limits.LogBytes || s.emits && int64(len(got.output)) > limits.OutputBytes {
		t.Errorf("%d bytes of log and %d of output", len(got.log), len(got.output))
	}
	if exits {
		return got
	}
	changed := bytes.Clone(got.memory)
	clear(changed[:recordSize])
	for i, step := range s.steps {
		if !documented(step, got.results[i], host) {
			t.Errorf("step %d, %s%x returned %d", i, step.function, step.params, got.results[i])
		}
		for _, w := range writes(step, got.results[i]) {
			if w.at+w.size <= memoryEnd {
				clear(changed[w.at : w.at+w.size])
			}
		}
	}
	for at, b := range changed {
		if b != 0 && b != untouched {
			t.Fatalf("memory at %d is %#x, where no call may write", at, b)
		}
	}
	return got
}

// documented says whether a function may return a result at all.
func documented(s step, result int32, host *recorder) bool {
	wasi := []int32{success, badf, fault, inval, nosys}
	p := func(i int) int64 { return int64(uint32(s.params[i])) }
	switch s.function {
	case "input_read", "result_read":
		return result >= 0 && int64(result) <= p(1) || result == hostabi.EFAULT || s.function == "result_read" && result == hostabi.EBADSTATE
	case "output_write":
		return result == 0 || result == hostabi.EFAULT || result == hostabi.E2BIG
	case "tool_call":
		return int(result) == len(host.answer) || result == host.code ||
			slices.Contains([]int32{hostabi.EFAULT, hostabi.E2BIG, hostabi.EQUOTA}, result)
	case "emit":
		return result == host.code || slices.Contains([]int32{0, hostabi.EFAULT, hostabi.E2BIG, hostabi.EBADSTATE, hostabi.EQUOTA}, result)
	}
	if !slices.Contains(carriedOut, s.function) {
		return result == nosys
	}
	return slices.Contains(wasi, result)
}

// sameTrace compares two runs, up to where chance or time comes in.
func sameTrace(t *testing.T, s *script, a, b *trace) {
	until := slices.IndexFunc(s.steps, func(s step) bool { return s.function == "random_get" || s.function == "clock_time_get" })
	if until < 0 {
		if !slices.Equal(a.results, b.results) || !bytes.Equal(a.memory, b.memory) || !bytes.Equal(a.output, b.output) ||
			!bytes.Equal(a.log, b.log) || !slices.Equal(a.asked, b.asked) || a.refused != b.refused {
			t.Errorf("compiler and interpreter differ: results %v and %v, asked %q and %q", a.results, b.results, a.asked, b.asked)
		}
		return
	}
	if until = min(until, len(a.results), len(b.results)); !slices.Equal(a.results[:until], b.results[:until]) {
		t.Errorf("compiler and interpreter differ: results %v and %v", a.results, b.results)
	}
}

// seeds have each function once, with small numbers, with places near the end of memory,
// and with wild ones.
func seeds() (all [][]byte) {
	for _, choice := range []byte{8, 40, 44, 72, 76, 80, 104, 112, 124} {
		for channel := range byte(2) {
			seed := []byte{channel, 20, 100, 9}
			for i, f := range functions() {
				if f.Name != "proc_exit" {
					seed = append(seed, byte(i))
					seed = append(seed, bytes.Repeat([]byte{choice}, len(f.Params))...)
				}
			}
			all = append(all, seed)
		}
	}
	return all
}
