package wasmbin

import "fmt"

// Bits of an element segment's flags.
const (
	elementsNotActive = 1 << iota
	elementsExplicit  // a table index follows; declarative, where not active
	elementsExpressions
	unknownElements
)

func (w *rewriter) writeElements() error {
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

func (w *rewriter) writeData() error {
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
		return w.state.addSegment(offset, data)
	}
	w.u32(uint32(len(data)))
	w.bytes(data)
	return nil
}
