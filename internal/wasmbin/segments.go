package wasmbin

import "fmt"

// constant is the value of a constant expression: the opcode of its only instruction, and
// its bits where that gives a number.
type constant struct {
	op   byte
	bits uint64
}

// expression copies a constant expression: one instruction and its end.
func (w *rewriter) expression(r *reader) (c constant) {
	c.op = r.byte()
	w.byte(c.op)
	switch c.op {
	case opI32Const:
		v := r.s32()
		c.bits = uint64(uint32(v))
		w.signed(int64(v))
	case opI64Const:
		v := r.s64()
		c.bits = uint64(v)
		w.signed(v)
	case opF32Const:
		c.bits = w.float(r, 4)
	case opF64Const:
		c.bits = w.float(r, 8)
	case opGlobalGet:
		w.importedGlobal(r)
	case opRefNull:
		w.byte(r.referenceType())
	case opRefFunc:
		w.u32(r.u32())
	case prefixVector:
		if op := r.u32(); op != opV128Const {
			r.fail("instruction %#x %#x in a constant expression", prefixVector, op)
		}
		w.u32(opV128Const)
		w.bytes(r.take(16))
	default:
		r.fail("instruction %#x in a constant expression", c.op)
	}
	if end := r.byte(); end != opEnd && r.err == nil {
		r.refuse(unsupported("constant expressions of several instructions"))
	}
	w.byte(opEnd)
	return c
}

func (w *rewriter) float(r *reader, size uint64) (bits uint64) {
	raw := r.take(size)
	w.bytes(raw)
	for i, b := range raw {
		bits |= uint64(b) << (8 * i)
	}
	return bits
}

func (w *rewriter) importedGlobal(r *reader) {
	g := r.u32()
	if r.err == nil && uint64(g) >= uint64(w.importedOf[kindGlobal]) {
		r.fail("global %d of %d imported ones in a constant expression", g, w.importedOf[kindGlobal])
	}
	w.u32(g)
}

func (w *rewriter) globalSection() error {
	return w.vector(secGlobal, "globals", maxGlobals, func(i int, r *reader) error {
		g := globalType(r)
		w.byte(g.value)
		w.byte(flag(g.mutable))
		value := w.expression(r)
		if g.mutable && w.state != nil {
			w.state.global(i, g.value, value)
		}
		return nil
	})
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// vector copies a section that is one vector, item by item.
func (w *rewriter) vector(id byte, what string, limit uint32, item func(i int, r *reader) error) error {
	return w.read(id, func(r *reader) error {
		count := r.count(what, limit)
		if count == 0 {
			return r.err
		}
		section := w.section(id)
		w.u32(count)
		for i := range int(count) {
			if err := item(i, r); err != nil {
				return err
			}
			if r.err != nil {
				return r.err
			}
		}
		w.close(section)
		return nil
	})
}

// Bits of an element segment's flags.
const (
	elementsNotActive = 1 << iota
	elementsExplicit  // a table index follows; declarative, where not active
	elementsExpressions
	unknownElements
)

func (w *rewriter) elementSection() error {
	return w.vector(secElement, "element segments", maxSegments, func(_ int, r *reader) error {
		flags := r.u32()
		if flags >= unknownElements {
			r.fail("element segment of kind %d", flags)
		}
		w.u32(flags)
		if flags&elementsNotActive == 0 {
			if flags&elementsExplicit != 0 {
				w.u32(r.u32())
			}
			w.expression(r)
		}
		if flags&(elementsNotActive|elementsExplicit) != 0 {
			w.elementType(r, flags)
		}
		w.elements(r, flags)
		return nil
	})
}

func (w *rewriter) elementType(r *reader, flags uint32) {
	if flags&elementsExpressions != 0 {
		w.byte(r.referenceType())
		return
	}
	if kind := r.byte(); kind != 0 {
		r.fail("elements of kind %d", kind)
	}
	w.byte(0)
}

func (w *rewriter) elements(r *reader, flags uint32) {
	n := r.count("elements", maxElements)
	w.u32(n)
	for i := uint32(0); i < n && r.err == nil; i++ {
		if flags&elementsExpressions != 0 {
			w.expression(r)
		} else {
			w.u32(r.u32())
		}
	}
}

// Kinds of data segments.
const (
	dataActive = iota
	dataPassive
	dataActiveIn // and a memory index
)

func (w *rewriter) dataSection() error {
	mark, count := len(w.out), int64(0)
	err := w.vector(secData, "data segments", maxSegments, func(_ int, r *reader) error {
		count++
		return w.dataSegment(r)
	})
	if err == nil && w.dataCount != none && w.dataCount != count {
		err = fmt.Errorf("%d data segments are announced, there are %d", w.dataCount, count)
	}
	if w.state != nil && w.dataCount == none {
		w.out = w.out[:mark] // no instruction can name one
	}
	return err
}

func (w *rewriter) dataSegment(r *reader) error {
	mark := len(w.out)
	kind := r.u32()
	w.u32(kind)
	offset := constant{}
	switch kind {
	case dataActive:
		offset = w.expression(r)
	case dataPassive:
	case dataActiveIn:
		if m := r.u32(); m != 0 {
			r.fail("data for memory %d", m)
		}
		w.u32(0)
		offset = w.expression(r)
	default:
		r.fail("data segment of kind %d", kind)
	}
	data := r.take(uint64(r.u32()))
	if w.state != nil && kind != dataPassive && r.err == nil {
		// An active segment is empty once it is in memory, and keeps its index.
		w.out = append(w.out[:mark], dataPassive, 0)
		return w.state.segment(offset, data)
	}
	w.u32(uint32(len(data)))
	w.bytes(data)
	return nil
}
