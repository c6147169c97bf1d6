package wasmbin

import "fmt"

// Code is decoded one instruction at a time, and encoded at once: however large a
// function is or how deep it nests, nothing is kept but a byte for each open block.

func (w *rewriter) writeCode() error {
	if w.definedFunctions() == 0 {
		return w.bodies(nil)
	}
	section := w.section(secCode)
	w.u32(uint32(w.definedFunctions()))
	err := w.bodies(func(_ int, body *reader) error {
		mark := w.open()
		err := w.body(body)
		w.close(mark)
		return err
	})
	w.close(section)
	return err
}

func (w *rewriter) body(r *reader) error {
	groups := groupsOfLocals(r)
	w.u32(groups)
	err := locals(r, groups, func(n uint32, t byte) {
		w.u32(n)
		w.byte(t)
	})
	if err != nil {
		return err
	}
	w.blocks = append(w.blocks[:0], opBlock)
	w.known = known{}
	for len(w.blocks) > 0 && r.err == nil {
		w.instruction(r)
	}
	return r.end()
}

func (w *rewriter) instruction(r *reader) {
	op := r.byte()
	w.cure(op)
	w.byte(op)
	switch s := shapeOf(op); s {
	case immNone:
	case immBlock:
		w.blocks = append(w.blocks, op)
		w.blockType(r)
	case immElse:
		w.elseBlock(r)
	case immEnd:
		w.blocks = w.blocks[:len(w.blocks)-1]
	case immUnknown:
		w.prefixed(r, op)
	case immIndex:
		w.u32(r.u32())
		if op == opTableSet {
			w.unfreezable()
		}
	default:
		w.immediate(r, s)
	}
}

// blockType copies what a block takes and gives: nothing, one value, or a function type,
// which is a signed number of 33 bits that is not negative.
func (w *rewriter) blockType(r *reader) {
	if r.left() > 0 {
		if t := r.data[r.pos]; t&0xc0 == 0x40 {
			r.pos++
			if t != 0x40 {
				checkValueType(r, t)
			}
			w.byte(t)
			return
		}
	}
	t := r.s33()
	if t < 0 {
		r.fail("block of type %d", t)
	}
	w.signed(t)
}

func (w *rewriter) elseBlock(r *reader) {
	last := len(w.blocks) - 1
	if w.blocks[last] != opIf {
		r.fail("else without if")
	}
	w.blocks[last] = opElse
}

// prefixed copies an instruction of two or more bytes. The number behind the prefix may
// be padded, and is written short: engines have read padded ones in their own way.
func (w *rewriter) prefixed(r *reader, prefix byte) {
	if r.err != nil {
		return
	}
	start := r.base + r.pos - 1
	if prefix != prefixMisc && prefix != prefixVector {
		r.refuse(fmt.Errorf("offset %#x: %w", start, refusal(prefix)))
		return
	}
	op := r.u32()
	w.u32(op)
	s := shapeOfVector(op)
	if prefix == prefixMisc {
		s = shapeOfMisc(op)
		w.noteMisc(r, op)
	}
	switch {
	case r.err != nil:
	case s == immUnknown:
		r.refuse(fmt.Errorf("offset %#x: %w", start, refusalOf(prefix, op)))
	default:
		w.immediate(r, s)
	}
}

func (w *rewriter) noteMisc(r *reader, op uint32) {
	if (op == opMemoryInit || op == opDataDrop) && w.dataCount == none {
		r.fail("a data segment is used, and no section announces their number")
	}
	if changesTables(op) {
		w.unfreezable()
	}
}

func (w *rewriter) immediate(r *reader, s shape) {
	switch s {
	case immIndex:
		w.u32(r.u32())
	case immIndexes:
		w.u32(r.u32())
		w.u32(r.u32())
	case immLabels:
		w.labels(r)
	case immTypes:
		n := r.count("types of a select", maxParams)
		w.u32(n)
		for range n {
			w.byte(r.valueType())
		}
	case immReference:
		w.byte(r.referenceType())
	case immAccess:
		w.access(r)
	case immAccessLane:
		w.access(r)
		w.byte(r.byte())
	case immLane:
		w.byte(r.byte())
	case immMemory:
		w.memory(r)
	case immMemories:
		w.memory(r)
		w.memory(r)
	case immIndexMemory:
		w.u32(r.u32())
		w.memory(r)
	default:
		w.number(r, s)
	}
}

func (w *rewriter) number(r *reader, s shape) {
	switch s {
	case immI32:
		w.integer(int64(r.s32()))
	case immI64:
		w.integer(r.s64())
	case imm4:
		w.bytes(r.take(4))
	case imm8:
		w.bytes(r.take(8))
	case imm16:
		w.bytes(r.take(16))
	}
}

func (w *rewriter) integer(v int64) {
	w.signed(v)
	if v != 0 {
		w.known.top = topOther
	}
}

func (w *rewriter) labels(r *reader) {
	n := r.count("labels", maxBody)
	w.u32(n)
	for range uint64(n) + 1 {
		w.u32(r.u32())
	}
}

// maxAlign is that of the largest value, a v128 of 2^4 bytes.
const maxAlign = 4

func (w *rewriter) access(r *reader) {
	align := r.u32()
	if align > maxAlign {
		r.fail("alignment 2^%d", align)
	}
	w.u32(align)
	w.u32(r.u32())
}

// memory copies the byte that names the only memory. It is no number yet, so it cannot
// be padded.
func (w *rewriter) memory(r *reader) {
	if r.byte() != 0 {
		r.fail("a zero byte is wanted")
	}
	w.byte(0)
}

func (r *reader) referenceType() byte {
	t := r.byte()
	if !isReference(t) && r.err == nil {
		if t >= 0x65 && t <= 0x74 {
			r.refuse(unsupported(fmt.Sprintf("references of type %#x (garbage collection or exceptions)", t)))
		} else {
			r.fail("unknown reference type %#x", t)
		}
	}
	return t
}
