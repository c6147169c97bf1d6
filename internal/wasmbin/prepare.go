package wasmbin

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
)

// Prepared is a module in the parts from which an engine makes instances.
type Prepared struct {
	// Full is the module, rewritten, without its start function and its active data.
	Full []byte
	// Skeleton is Full with bodies that only trap: all that an instance needs beside
	// machine code.
	Skeleton []byte
	// Image is what the module declares of memory and mutable globals. It may alias the
	// module.
	Image Image
}

// ExportStart is the name under which a prepared module exports its start function, if it
// has one.
const ExportStart = reserved + "start"

// ExportGlobal is the name under which a prepared module exports the global i, counted
// among those that it defines, if that is mutable and a number.
func ExportGlobal(i int) string { return fmt.Sprintf(reserved+"global.%d", i) }

// Prepare turns a proven module into what an engine runs: rewritten as by Rewrite, with its
// state lifted out into an image. The error is of kind invalid_input, of code data_segment
// where data lies outside of the memory.
func Prepare(module []byte) (*Prepared, error) {
	p, err := prepare(module)
	if err != nil {
		return nil, classify(err)
	}
	return p, nil
}

func prepare(module []byte) (p *Prepared, err error) {
	if err := header(module); err != nil {
		return nil, err
	}
	w := rewriter{clamp: Clamp{}.withDefaults()}
	if w.outline, err = outlineOf(module, allowed()); err != nil {
		return nil, err
	}
	if err := w.checkExports(); err != nil {
		return nil, err
	}
	pages := w.memories[0].min
	w.state = &state{size: uint64(pages) * hostabi.PageSize}
	if err := w.write(len(module)); err != nil {
		return nil, err
	}
	return &Prepared{
		Full:     w.out,
		Skeleton: w.skeleton(),
		Image: Image{
			Freezable: !w.state.unfreezable,
			Pages:     pages,
			Runs:      merge(w.state.segments),
			Globals:   w.state.globals,
		},
	}, nil
}

// state collects what is lifted out of a module.
type state struct {
	size        uint64 // of the memory at the start
	segments    []Run  // in the order in which they are applied
	globals     []Global
	unfreezable bool // an instance can change what images do not hold
}

func (s *state) addSegment(offset constant, data []byte) error {
	if offset.op != opI32Const {
		return fmt.Errorf("a data segment at no constant of type i32")
	}
	if end := offset.bits + uint64(len(data)); end > s.size {
		return fault.New(fault.InvalidInput, "data_segment", "module has data up to address %d, its memory starts with %d bytes", end, s.size).
			WithHint("declare a larger initial memory")
	}
	if len(data) > 0 {
		s.segments = append(s.segments, Run{offset.bits, data})
	}
	return nil
}

func (s *state) addGlobal(i int, value byte, initial constant) {
	switch value {
	case typeI32, typeI64, typeF32, typeF64:
		s.globals = append(s.globals, Global{i, initial.bits})
	default:
		s.unfreezable = true
	}
}

// changesTables tells the instructions behind the prefix 0xfc after which a table or a
// passive segment is not what the module declares.
func changesTables(op uint32) bool {
	switch op {
	case opDataDrop, opTableInit, opElemDrop, opTableCopy, opTableGrow, opTableFill:
		return true
	}
	return false
}

// unfreezable notes that an instruction changes what images do not hold.
func (w *rewriter) unfreezable() {
	if w.state != nil {
		w.state.unfreezable = true
	}
}

// lifted are the exports through which an engine restores an image and starts a module.
func (w *rewriter) lifted() (exports []export) {
	if w.start != none {
		exports = append(exports, export{ExportStart, kindFunction, uint32(w.start)})
	}
	for _, g := range w.state.globals {
		exports = append(exports, export{ExportGlobal(g.Index), kindGlobal, uint32(g.Index + w.importedOf[kindGlobal])})
	}
	return exports
}

func (w *rewriter) skeleton() []byte {
	stubs := writer{out: slices.Clone(w.out[:w.codeAt])}
	if n := w.definedFunctions(); n > 0 {
		section := stubs.section(secCode)
		stubs.u32(uint32(n))
		stubs.bytes(bytes.Repeat([]byte{3, 0, opUnreachable, opEnd}, n)) // of 3 bytes, without locals
		stubs.close(section)
	}
	stubs.bytes(w.out[w.codeEnd:])
	return stubs.out
}

// maxGap is how many zero bytes a run may hold between two segments: Go's linker splits
// data at every few of them, and 36,000 runs take longer to copy than their bytes.
const maxGap = 64

// merge makes runs of segments, of which later ones overwrite earlier ones.
func merge(segments []Run) (runs []Run) {
	order := make([]int, len(segments))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(segments[a].Offset, segments[b].Offset) })
	for len(order) > 0 {
		n, end := 1, segments[order[0]].end()
		for n < len(order) && segments[order[n]].Offset <= end+maxGap {
			end = max(end, segments[order[n]].end())
			n++
		}
		runs = append(runs, overlay(segments, order[:n], end))
		order = order[n:]
	}
	return runs
}

// overlay lays some of the segments, of which the first starts lowest and none ends above
// end, over each other.
func overlay(segments []Run, some []int, end uint64) Run {
	first := segments[some[0]]
	if len(some) == 1 {
		return first
	}
	run := Run{first.Offset, make([]byte, end-first.Offset)}
	slices.Sort(some) // in the order in which they are applied
	for _, i := range some {
		copy(run.Data[segments[i].Offset-run.Offset:], segments[i].Data)
	}
	return run
}
