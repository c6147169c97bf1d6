package wasmbin

import "strings"

// Subsections of the custom section "name".
const (
	namesModule = iota
	namesFunctions
)

// writeNames writes the names of the module and its functions, which traces show. A
// section that is not well-formed is as good as none, by the specification.
func (w *rewriter) writeNames() {
	mark := len(w.out)
	section := w.section(secCustom)
	w.name("name")
	empty := len(w.out)
	r := w.names
	last := none
	for r.left() > 0 && r.err == nil {
		id := r.byte()
		body := r.part(uint64(r.u32()))
		if int(id) <= last {
			r.fail("subsection %d is repeated or out of order", id)
		}
		last = int(id)
		if w.subsection(id, &body); body.err != nil {
			r.refuse(body.err)
		}
	}
	if r.err != nil || len(w.out) == empty {
		w.out = w.out[:mark]
		return
	}
	w.close(section)
}

func (w *rewriter) subsection(id byte, r *reader) {
	if id > namesFunctions || r.err != nil {
		return
	}
	w.byte(id)
	mark := w.open()
	if id == namesModule {
		w.name(short(r.name()))
	} else {
		w.functionNames(r)
	}
	w.close(mark)
	_ = r.end() // stays in r
}

func (w *rewriter) functionNames(r *reader) {
	n := r.count("function names", maxFunctions)
	w.u32(n)
	last := int64(none)
	for i := uint32(0); i < n && r.err == nil; i++ {
		function := r.u32()
		if int64(function) <= last || int64(function) >= int64(len(w.functions)) {
			r.fail("name of function %d behind that of %d", function, last)
		}
		last = int64(function)
		w.u32(function)
		w.name(short(r.name()))
	}
}

// maxName is how many bytes of a name are kept: a trace of 30 functions is put together from
// them in the memory of a worker.
const maxName = 256

func short(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "")
}
