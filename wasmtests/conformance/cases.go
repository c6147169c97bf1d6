package conformance

import (
	"bytes"
	"slices"
	"testing"

	"github.com/aircoding/air/hostabi"
)

// testCase is a script with what its steps return, and what is true afterwards.
type testCase struct {
	name   string
	steps  []step
	emits  bool // the puppet reports without touching the output
	limits func(l *hostabi.Limits)
	host   recorder
	after  func(t *testing.T, got *trace)
}

func (c testCase) run(t *testing.T, puppet Engine) {
	limits := newCall("", nil).Limits
	if c.limits != nil {
		c.limits(&limits)
	}
	host := c.host
	got, err := perform(puppet, &script{c.emits, c.steps}, limits, &host)
	if err != nil || got.err != nil || got.status != 0 {
		t.Fatalf("status %d, %v, %v", got.status, got.err, err)
	}
	for i, s := range c.steps {
		if got.results[i] != s.want {
			t.Errorf("step %d, %s%x: got %d, want %d", i, s.function, s.params, got.results[i], s.want)
		}
	}
	if c.after != nil {
		c.after(t, got)
	}
}

const (
	name, request, long = 100, 200, 300 // places in memory
	end                 = memoryEnd
	wild                = 0xfffffff0
	garbage             = 0xdeadbeef << 32 // upper half of an i32 parameter
)

// ask pokes the name and request of a call.
func ask(steps ...step) []step {
	return append([]step{poke(name, "fs.read"), poke(request, `{"path":"a"}`)}, steps...)
}

func call(want int32) step { return do("tool_call", want, name, 7, request, 12) }

func abiCases() []testCase {
	return slices.Concat(inputCases(), outputCases(), toolCases(), emitCases(), quotaCases())
}

func inputCases() []testCase {
	return []testCase{
		{
			name: "input in pieces",
			steps: []step{
				do("input_read", 3, 1000, 3, 0),
				do("input_read", 5, 1003, 5, 3),
				do("input_read", 0, 1000, 0, 3),
				do("input_read", 0, 1000, 8, 1<<31),
				do("input_read", 0, end, 0, 0),
				do("input_read", 8, end-8, 8, 0),
				do("input_read", 8, garbage|2000, garbage|8, garbage),
				do("input_read", 4, 3000, 0xffffffff, 8+8*recordSize-4), // the last 4 bytes of 8 steps
			},
			after: func(t *testing.T, got *trace) {
				for _, at := range []int{1000, 2000, end - 8} {
					wantBytes(t, got.memory[at:at+8], got.input[:8])
				}
				wantBytes(t, got.memory[2008:2010], []byte{untouched, untouched})
			},
		},
		{
			name: "input beyond memory",
			steps: []step{
				do("input_read", hostabi.EFAULT, end, 1, 0),
				do("input_read", hostabi.EFAULT, end-7, 8, 0),
				do("input_read", hostabi.EFAULT, wild, 0x20, 0),
				do("input_read", 0, wild, 0x20, 0xffffffff),
			},
			after: func(t *testing.T, got *trace) { wantBytes(t, got.memory[end-7:], bytes.Repeat([]byte{untouched}, 7)) },
		},
	}
}

func outputCases() []testCase {
	return []testCase{
		{
			name: "output",
			steps: []step{
				poke(1000, "hello"),
				do("output_write", 0, 1000, 5),
				do("output_write", 0, 1000, 0),
				do("output_write", 0, end, 0),
				do("output_write", 0, garbage|1001, garbage|2),
				do("output_write", hostabi.EFAULT, end-1, 2),
				do("output_write", hostabi.EFAULT, 0, 0xffffffff),
				do("output_write", hostabi.EFAULT, wild, 0x20),
			},
			after: func(t *testing.T, got *trace) { wantBytes(t, got.output, []byte("helloel")) },
		},
		{
			name:   "output over the limit",
			emits:  true,
			limits: func(l *hostabi.Limits) { l.OutputBytes = 10 },
			steps: []step{
				poke(1000, "123456"),
				do("output_write", 0, 1000, 6),
				do("output_write", hostabi.E2BIG, 1000, 6),
				do("output_write", 0, 1000, 4),
				do("output_write", hostabi.E2BIG, 1000, 1),
				do("output_write", 0, 1000, 0),
			},
			after: func(t *testing.T, got *trace) {
				wantBytes(t, got.output, []byte("1234561234"))
				if !got.refused {
					t.Error("nobody knows that the output was cut")
				}
			},
		},
	}
}

func toolCases() []testCase {
	return []testCase{
		{
			name:  "tool call",
			steps: ask(call(4), do("tool_call", 4, garbage|name, garbage|7, garbage|request, garbage|2), do("tool_call", 4, name, 0, end, 0)),
			host:  recorder{answer: []byte("{12}")},
			after: func(t *testing.T, got *trace) {
				wantAsked(t, got, `fs.read "{\"path\":\"a\"}"`, `fs.read "{\""`, ` ""`)
			},
		},
		{
			name: "tool call with bad pointers",
			steps: ask(
				poke(long, "\xc3"),
				do("tool_call", hostabi.EFAULT, wild, 7, request, 12),
				do("tool_call", hostabi.EFAULT, name, 7, end-1, 2),
				do("tool_call", hostabi.EFAULT, 0x7fffffff, 0x7fffffff, request, 12),
				do("tool_call", hostabi.EFAULT, long, 1, request, 12), // half a character
				do("tool_call", hostabi.EFAULT, name, 7, 0, 0xffffffff),
			),
			after: func(t *testing.T, got *trace) { wantAsked(t, got) },
		},
		{
			name:  "tool call with a long name",
			steps: []step{poke(long, string(bytes.Repeat([]byte("a"), 129))), do("tool_call", hostabi.E2BIG, long, 129, long, 0), do("tool_call", 0, long, 128, long, 0)},
			after: func(t *testing.T, got *trace) {
				wantAsked(t, got, string(bytes.Repeat([]byte("a"), 128))+` ""`)
			},
		},
		{
			name:  "result before a call",
			steps: []step{do("result_read", hostabi.EBADSTATE, 1000, 8, 0), do("result_read", hostabi.EBADSTATE, wild, 8, 0)},
		},
		{
			name: "result in pieces, and again",
			host: recorder{answers: [][]byte{[]byte("first envelope"), []byte("2nd")}},
			steps: ask(call(14),
				do("result_read", 5, 1000, 5, 0),
				do("result_read", 9, 1005, 100, 5),
				do("result_read", 14, 1100, 14, 0),
				do("result_read", 0, 1000, 5, 14),
				do("result_read", hostabi.EFAULT, end-13, 14, 0),
				call(3), // replaces the first
				do("result_read", 3, garbage|1200, garbage|14, garbage),
			),
			after: func(t *testing.T, got *trace) {
				wantBytes(t, got.memory[1000:1015], []byte("first envelope\xa5"))
				wantBytes(t, got.memory[1100:1114], []byte("first envelope"))
				wantBytes(t, got.memory[1200:1204], []byte("2nd\xa5"))
			},
		},
		{
			name:  "a call that was not made leaves no result",
			host:  recorder{answers: [][]byte{[]byte("first")}, code: hostabi.ECANCELED},
			steps: ask(call(5), call(hostabi.ECANCELED), do("result_read", hostabi.EBADSTATE, 1000, 5, 0)),
		},
		{
			name:  "a call with bad pointers leaves the result",
			host:  recorder{answer: []byte("first")},
			steps: ask(call(5), do("tool_call", hostabi.EFAULT, wild, 7, request, 12), do("result_read", 5, 1000, 5, 0)),
		},
	}
}

func emitCases() []testCase {
	cases := []testCase{
		{
			name: "emit",
			steps: []step{
				poke(1000, `{"a":1}`),
				do("emit", 0, 0, 1000, 7),
				do("emit", 0, 1, 1000, 7),
				do("emit", 0, garbage|2, garbage|1000, garbage|7),
				do("emit", 0, 3, 1000, 0),
			},
			after: func(t *testing.T, got *trace) {
				wantAsked(t, got, `emit 0 "{\"a\":1}"`, `emit 1 "{\"a\":1}"`, `emit 2 "{\"a\":1}"`, `emit 3 ""`)
			},
		},
		{
			name: "emit refused",
			steps: []step{
				do("emit", hostabi.EBADSTATE, 4, 1000, 7),
				do("emit", hostabi.EBADSTATE, 0xffffffff, 1000, 7),
				do("emit", hostabi.EFAULT, 1, end-1, 2),
				do("emit", hostabi.EFAULT, 1, wild, 0x20),
				do("emit", hostabi.E2BIG, 1, 0, hostabi.MaxEmit+1),
			},
			after: func(t *testing.T, got *trace) { wantAsked(t, got) },
		},
	}
	for code, want := range map[hostabi.Code]int32{5: 0, hostabi.EBADSTATE: hostabi.EBADSTATE, hostabi.ECANCELED: hostabi.ECANCELED, hostabi.EQUOTA: hostabi.EQUOTA} {
		cases = append(cases, testCase{name: "emit passes the host's code on", host: recorder{code: code}, steps: []step{do("emit", want, 1, 1000, 2)}})
	}
	return cases
}

func quotaCases() []testCase {
	return []testCase{
		{
			name:   "host calls",
			limits: func(l *hostabi.Limits) { l.HostCalls = 3 },
			host:   recorder{answer: []byte("{}")},
			steps: ask(call(2), do("emit", 0, 1, request, 2), call(2),
				call(hostabi.EQUOTA), do("emit", hostabi.EQUOTA, 1, request, 2), do("result_read", 2, 1000, 8, 0)),
			after: func(t *testing.T, got *trace) {
				if len(got.asked) != 3 {
					t.Errorf("host saw %q", got.asked)
				}
			},
		},
		{
			name:   "log lines and prints share their limit",
			limits: func(l *hostabi.Limits) { l.LogBytes = 10 },
			steps: []step{
				poke(1000, "abcdefgh"), poke(1100, "\xe8\x03\x00\x00\x08\x00\x00\x00"), // 1000, 8
				do("emit", 0, 0, 1000, 6),
				do("emit", hostabi.EQUOTA, 0, 1000, 6),
				do("fd_write", 0, 1, 1100, 1, 1200),
				do("emit", hostabi.EQUOTA, 0, 1000, 1),
				do("emit", 0, 1, 1000, 6), // progress is no log
			},
			after: func(t *testing.T, got *trace) {
				wantBytes(t, got.log, []byte("abcd"))
				wantBytes(t, got.memory[1200:1204], []byte{8, 0, 0, 0}) // all of it, as far as the guest knows
			},
		},
	}
}

func wantBytes(t *testing.T, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func wantAsked(t *testing.T, got *trace, want ...string) {
	t.Helper()
	if !slices.Equal(got.asked, want) {
		t.Errorf("host saw %q, want %q", got.asked, want)
	}
}
