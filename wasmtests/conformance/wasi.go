package conformance

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/aircoding/air/hostabi"
)

// Errors of WASI preview 1.
const (
	success = 0
	badf    = 8
	fault   = 21
	inval   = 28
	nosys   = 52
)

func wasiCases() []testCase {
	return append(printCases(),
		testCase{
			name: "no arguments and no environment",
			steps: []step{
				do("args_sizes_get", success, 1000, 1004),
				do("environ_sizes_get", success, garbage|1008, garbage|1012),
				do("args_get", success, 2000, 2004),
				do("environ_get", success, 2000, 2004),
				do("args_sizes_get", fault, wild, 1000),
				do("environ_sizes_get", fault, 1000, end-3),
			},
			after: func(t *testing.T, got *trace) {
				wantBytes(t, got.memory[1000:1016], make([]byte, 16))
				wantBytes(t, got.memory[2000:2008], bytes.Repeat([]byte{untouched}, 8))
			},
		},
		testCase{
			name: "clocks",
			steps: []step{
				do("clock_res_get", success, 0, 1000),
				do("clock_res_get", success, 1, 1008),
				do("clock_time_get", success, 0, 1, 1016),
				do("clock_time_get", success, garbage|1, 1, garbage|1024),
				do("clock_time_get", success, 1, 1, 1033), // odd
				do("clock_res_get", inval, 2, 1000),
				do("clock_time_get", inval, 3, 0, 1000),
				do("clock_time_get", fault, 0, 0, end-7),
				do("clock_res_get", fault, 0, end-7),
			},
			after: func(t *testing.T, got *trace) {
				at := func(p int) uint64 { return binary.LittleEndian.Uint64(got.memory[p:]) }
				const year2025 = 1_735_689_600_000_000_000
				if at(1000) == 0 || at(1008) == 0 || at(1016) < year2025 || at(1024) == 0 || at(1033) < at(1024) {
					t.Errorf("clocks %x", got.memory[1000:1041])
				}
			},
		},
		testCase{
			name: "random bytes",
			steps: []step{
				do("random_get", success, 1000, 32),
				do("random_get", success, garbage|2000, garbage|32),
				do("random_get", success, end, 0),
				do("random_get", fault, end-1, 2),
				do("random_get", fault, wild, 0x20),
				do("random_get", inval, 0, 1<<20+1),
			},
			after: func(t *testing.T, got *trace) {
				if bytes.Equal(got.memory[1000:1032], got.memory[2000:2032]) {
					t.Error("the same bytes twice")
				}
				wantBytes(t, got.memory[1032:1040], bytes.Repeat([]byte{untouched}, 8))
			},
		},
		testCase{
			name: "descriptors",
			steps: []step{
				do("fd_fdstat_get", success, 0, 1000),
				do("fd_fdstat_get", success, 2, 1024),
				do("fd_fdstat_get", badf, 3, 2000),
				do("fd_fdstat_get", badf, 0xffffffff, 2000),
				do("fd_fdstat_get", fault, 1, end-23),
				do("fd_prestat_get", badf, 3, 2000),
				do("sched_yield", success),
			},
			after: func(t *testing.T, got *trace) {
				device := [24]byte{2} // a character device without rights
				wantBytes(t, got.memory[1000:1024], device[:])
				wantBytes(t, got.memory[1024:1048], device[:])
				wantBytes(t, got.memory[2000:2008], bytes.Repeat([]byte{untouched}, 8))
			},
		},
		testCase{
			name: "poll",
			steps: []step{
				poke(1000, subscription(7, 0, 0)), poke(1048, subscription(8, 0, 1<<62)), poke(1096, subscription(9, 1, 0)),
				do("poll_oneoff", success, 1000, 2000, 2, 3000),
				do("poll_oneoff", success, 1048, 2100, 2, 3004), // fails for the file at once
				do("poll_oneoff", inval, 1000, 2000, 0, 3000),
				do("poll_oneoff", inval, 1000, 2000, 257, 3000),
				do("poll_oneoff", fault, end-47, 2000, 1, 3000),
				do("poll_oneoff", fault, 1000, end-31, 1, 3000),
				do("poll_oneoff", fault, 1000, 2000, 1, end-3),
			},
			after: func(t *testing.T, got *trace) {
				wantBytes(t, got.memory[3000:3008], []byte{1, 0, 0, 0, 1, 0, 0, 0})
				wantBytes(t, got.memory[2000:2012], []byte{7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
				wantBytes(t, got.memory[2100:2112], []byte{9, 0, 0, 0, 0, 0, 0, 0, badf, 0, 1, 0})
			},
		},
		unknownCase())
}

// subscription waits for a clock (tag 0) or to read a file (tag 1).
func subscription(mark uint64, tag byte, nanoseconds uint64) string {
	s := make([]byte, 48)
	binary.LittleEndian.PutUint64(s, mark)
	s[8] = tag
	binary.LittleEndian.PutUint32(s[16:], 1)
	binary.LittleEndian.PutUint64(s[24:], nanoseconds)
	return string(s)
}

func printCases() []testCase {
	const pieces = 1000
	vector := binary.LittleEndian.AppendUint32(nil, 2000)
	for _, n := range []uint32{3, 2003, 0, end - 1, 1} { // "abc", nothing, "z"
		vector = binary.LittleEndian.AppendUint32(vector, n)
	}
	return []testCase{{
		name: "printing",
		steps: []step{
			poke(pieces, string(vector)), poke(2000, "abc"), poke(end-1, "z"),
			do("fd_write", success, 1, pieces, 3, 3000),
			do("fd_write", success, garbage|2, garbage|pieces, garbage|1, garbage|3004),
			do("fd_write", success, 2, pieces, 0, 3008),
			do("fd_write", badf, 0, pieces, 1, 3012),
			do("fd_write", badf, 3, pieces, 1, 3012),
			do("fd_write", inval, 1, pieces, 1025, 3012),
			do("fd_write", fault, 1, end-8, 2, 3012),
			do("fd_write", fault, 1, wild, 1, 3012),
			do("fd_write", fault, 1, 4000, 1, 3012), // a piece at a5a5a5a5
			do("fd_write", fault, 1, pieces, 0, end-3),
		},
		after: func(t *testing.T, got *trace) {
			wantBytes(t, got.log, []byte("abczabc"))
			wantBytes(t, got.memory[3000:3013], []byte{4, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, untouched})
		},
	}}
}

// carriedOut are the functions of WASI that do more than to say ENOSYS.
var carriedOut = []string{
	"args_get", "args_sizes_get", "environ_get", "environ_sizes_get", "clock_res_get", "clock_time_get",
	"fd_fdstat_get", "fd_prestat_get", "fd_write", "poll_oneoff", "proc_exit", "random_get", "sched_yield",
}

// unknownCase calls all others, with pointers that could be written to.
func unknownCase() testCase {
	c := testCase{name: "the rest of WASI", after: func(t *testing.T, got *trace) {
		wantBytes(t, got.memory[recordSize:], bytes.Repeat([]byte{untouched}, memoryEnd-recordSize))
		wantAsked(t, got)
	}}
	for _, f := range functions() {
		if f.Module == hostabi.WASIModule && !slices.Contains(carriedOut, f.Name) {
			c.steps = append(c.steps, do(f.Name, nosys, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000))
		}
	}
	return c
}
