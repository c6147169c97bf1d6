package conformance

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/aircoding/air/hostabi"
)

// What guests/puppet.wat does with its memory.
const (
	memoryEnd  = 2 * hostabi.PageSize
	recordSize = 80
	untouched  = 0xa5
)

// functions are in the order of the puppet's table.
func functions() []hostabi.Function {
	all := hostabi.Functions(hostabi.AirV1)
	slices.SortFunc(all, func(a, b hostabi.Function) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// script is what a puppet is to do.
type script struct {
	emits bool // report with emit, where the output is what a case is about
	steps []step
}

// step is one host call and what it returns.
type step struct {
	function string
	params   []uint64
	want     int32
	data     string // of a poke
}

// do is a step that calls a function.
func do(function string, want int32, params ...uint64) step {
	return step{function: function, params: params, want: want}
}

// poke is a step that puts bytes into memory.
func poke(at uint64, data string) step {
	return step{function: "input_read", params: []uint64{at, uint64(len(data)), 0}, want: int32(len(data)), data: data}
}

// encode writes the script as the puppet reads it: data follows the last call.
func (s *script) encode() []byte {
	all := functions()
	channel := uint32(0)
	if s.emits {
		channel = 1
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(s.steps)))
	b = binary.LittleEndian.AppendUint32(b, channel)
	tail := []byte{}
	for _, step := range s.steps {
		at := slices.IndexFunc(all, func(f hostabi.Function) bool { return f.Name == step.function })
		params := [9]uint64{}
		copy(params[:], step.params)
		if step.data != "" {
			params[2] = uint64(8 + recordSize*len(s.steps) + len(tail))
			tail = append(tail, step.data...)
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(at))
		for _, p := range params {
			b = binary.LittleEndian.AppendUint64(b, p)
		}
	}
	return append(b, tail...)
}

// trace is what came of a script.
type trace struct {
	status  uint32
	err     error
	results []int32
	memory  []byte // after the last step
	output  []byte // what the steps wrote
	log     []byte
	asked   []string // what the host was asked for
	refused bool     // a write of output was too large
	input   []byte
}

// perform runs a script. An error is a report that makes no sense.
func perform(e Engine, s *script, limits hostabi.Limits, host *recorder) (*trace, error) {
	if s.emits {
		host.reports = &[][]byte{}
	}
	c := &hostabi.Call{Input: s.encode(), Limits: limits, Host: host}
	t := &trace{input: c.Input}
	t.status, t.err = e.Run(c)
	e.Reset()
	t.log, t.asked, t.refused = c.Log, host.asked, c.OutputRefused
	if t.err != nil {
		return t, nil
	}
	if s.emits {
		t.output = c.Output
		return t, t.fromReports(*host.reports, len(s.steps))
	}
	return t, t.fromOutput(c.Output, s.steps)
}

func (t *trace) fromReports(reports [][]byte, steps int) error {
	if len(reports) != steps+2 {
		return fmt.Errorf("%d reports of %d steps", len(reports), steps)
	}
	for _, r := range reports[:steps] {
		t.results = append(t.results, int32(binary.LittleEndian.Uint32(r)))
	}
	t.memory = slices.Concat(reports[steps:]...)
	return nil
}

// fromOutput finds the results between what the steps wrote.
func (t *trace) fromOutput(output []byte, steps []step) error {
	for _, s := range steps {
		n := uint64(0)
		if s.function == "output_write" {
			if at, size := uint64(uint32(s.params[0])), uint64(uint32(s.params[1])); at+size <= memoryEnd {
				n = size
			}
		}
		if uint64(len(output)) < n+4 {
			return fmt.Errorf("the output ends after %d of %d steps", len(t.results), len(steps))
		}
		t.output = append(t.output, output[:n]...)
		t.results = append(t.results, int32(binary.LittleEndian.Uint32(output[n:])))
		output = output[n+4:]
	}
	if len(output) != memoryEnd {
		return fmt.Errorf("a memory of %d bytes", len(output))
	}
	t.memory = output
	return nil
}

// recorder is a host that always answers the same, and remembers what it was asked for.
type recorder struct {
	answer  []byte
	answers [][]byte // of the first calls, one each
	code    hostabi.Code
	asked   []string
	reports *[][]byte // of a puppet that emits them
}

// ToolCall implements hostabi.Host.
func (r *recorder) ToolCall(name string, request []byte) ([]byte, hostabi.Code) {
	r.asked = append(r.asked, fmt.Sprintf("%s %.100q", name, request))
	if len(r.answers) > 0 {
		first := r.answers[0]
		r.answers = r.answers[1:]
		return first, 0
	}
	return r.answer, r.code
}

// Emit implements hostabi.Host.
func (r *recorder) Emit(kind int32, payload []byte) hostabi.Code {
	if r.reports != nil {
		*r.reports = append(*r.reports, slices.Clone(payload))
		return 0
	}
	r.asked = append(r.asked, fmt.Sprintf("emit %d %.100q", kind, payload))
	return r.code
}
