package wasmbin

func (w *rewriter) writeGlobals() error {
	return w.vector(secGlobal, "globals", maxGlobals, func(i int, r *reader) error {
		g := r.globalType()
		w.byte(g.value)
		w.byte(flag(g.mutable))
		value := w.expression(r)
		if g.mutable && w.state != nil {
			w.state.addGlobal(i, g.value, value)
		}
		return nil
	})
}

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
