package wasmbin

import "github.com/aircoding/air/hostabi"

// Version is that of the rewriter: what another version prepared is prepared anew.
const Version = 2

// Clamp bounds what a module may declare as maxima. Zero fields mean the defaults: the
// largest memory of a guest, and 1,000,000 entries of each table.
type Clamp struct {
	MemoryPages  uint32
	TableEntries uint32
}

func (c Clamp) withDefaults() Clamp {
	if c.MemoryPages == 0 {
		c.MemoryPages = hostabi.MaxMemory / hostabi.PageSize
	}
	if c.TableEntries == 0 {
		c.TableEntries = maxTableSize
	}
	return c
}

// Rewrite decodes a WebAssembly 2.0 module to single instructions and encodes it anew,
// each number in its shortest form, with the same behaviour: only memories and tables
// grow no further than the clamp. Of the custom sections it keeps only the names of the
// module and its functions. Types are not checked: what is invalid for its types stays so.
//
// Imported memories and tables keep their limits, which say what the module accepts:
// whoever defines them bounds them. The error is of kind invalid_input.
//
// Engines use Prepare. Rewrite is for tests that compare a module with its rewritten form.
func Rewrite(module []byte, c Clamp) ([]byte, error) {
	w := rewriter{clamp: c.withDefaults()}
	if err := w.rewrite(module); err != nil {
		return nil, classify(err)
	}
	return w.out, nil
}

func (w *rewriter) rewrite(module []byte) (err error) {
	if err := header(module); err != nil {
		return err
	}
	if w.outline, err = outlineOf(module, nil); err != nil {
		return err
	}
	return w.write(len(module))
}

// rewriter holds the module that is read, the one that is written, and what is to differ.
type rewriter struct {
	*outline
	writer
	clamp Clamp
	state *state // collects what is lifted out of the module; nil: it stays there

	blocks          []byte // the open blocks of a function, by opcode
	known           known
	codeAt, codeEnd int // of the code section in out
}

// write encodes the module; size is that of the original.
func (w *rewriter) write(size int) error {
	w.out = make([]byte, 0, size+size/64+64) // the cure takes 0.03 % in what Go compiles
	w.out = append(w.out, "\x00asm\x01\x00\x00\x00"...)
	w.writeTypes()
	w.writeImports()
	w.writeFunctions()
	w.writeTables()
	w.writeMemories()
	if err := w.writeGlobals(); err != nil {
		return err
	}
	w.writeExports()
	w.writeStart()
	if err := w.writeElements(); err != nil {
		return err
	}
	w.writeDataCount()
	w.codeAt = len(w.out)
	if err := w.writeCode(); err != nil {
		return err
	}
	w.codeEnd = len(w.out)
	if err := w.writeData(); err != nil {
		return err
	}
	w.writeNames()
	return nil
}

// list writes a section that is a vector of n items, unless it is empty.
func (w *rewriter) list(id byte, n int, item func(i int)) {
	if n == 0 {
		return
	}
	section := w.section(id)
	w.u32(uint32(n))
	for i := range n {
		item(i)
	}
	w.close(section)
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

func (w *rewriter) writeTypes() {
	w.list(secType, len(w.types), func(i int) {
		w.byte(formFunction)
		w.name(w.types[i].params)
		w.name(w.types[i].results)
	})
}

func (w *rewriter) writeImports() {
	w.list(secImport, len(w.imports), func(n int) {
		i := &w.imports[n]
		w.name(i.module)
		w.name(i.name)
		w.byte(i.kind)
		switch i.kind {
		case kindFunction:
			w.u32(i.of)
		case kindTable:
			w.byte(i.element)
			w.writeLimits(i.limits)
		case kindMemory:
			w.writeLimits(i.memory)
		case kindGlobal:
			w.byte(i.value)
			w.byte(flag(i.mutable))
		}
	})
}

func (w *rewriter) writeFunctions() {
	defined := w.functions[w.importedOf[kindFunction]:]
	w.list(secFunction, len(defined), func(i int) { w.u32(defined[i]) })
}

func (w *rewriter) writeTables() {
	w.list(secTable, len(w.tables), func(i int) {
		w.byte(w.tables[i].element)
		w.writeLimits(w.tables[i].clamped(w.clamp.TableEntries))
	})
}

func (w *rewriter) writeMemories() {
	w.list(secMemory, len(w.memories), func(i int) {
		w.writeLimits(w.memories[i].clamped(w.clamp.MemoryPages))
	})
}

// clamped lowers the maximum. A minimum above it stays: Prove tells what a module starts
// with, and whoever runs it refuses too much.
func (l limits) clamped(to uint32) limits {
	if !l.bounded || l.max > to {
		l.max = max(l.min, to)
	}
	l.bounded = true
	return l
}

func (w *writer) writeLimits(l limits) {
	w.byte(flag(l.bounded))
	w.u32(l.min)
	if l.bounded {
		w.u32(l.max)
	}
}

func (w *rewriter) writeExports() {
	exports := w.exports
	if w.state != nil {
		exports = append(exports, w.lifted()...)
	}
	w.list(secExport, len(exports), func(i int) {
		w.name(exports[i].name)
		w.byte(exports[i].kind)
		w.u32(exports[i].index)
	})
}

func (w *rewriter) writeStart() {
	if w.start == none || w.state != nil {
		return
	}
	section := w.section(secStart)
	w.u32(uint32(w.start))
	w.close(section)
}

func (w *rewriter) writeDataCount() {
	if w.dataCount == none {
		return
	}
	section := w.section(secDataCount)
	w.u32(uint32(w.dataCount))
	w.close(section)
}
