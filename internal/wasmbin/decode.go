package wasmbin

import (
	"errors"
	"fmt"
)

// Section ids, and the order in which sections must come. Custom sections (0) may come
// anywhere.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
	secTag
)

var order = map[byte]int{
	secType: 1, secImport: 2, secFunction: 3, secTable: 4, secMemory: 5, secGlobal: 6, secExport: 7,
	secStart: 8, secElement: 9, secDataCount: 10, secCode: 11, secData: 12,
}

type decoder struct {
	allowed   map[importName]signature
	types     []signature
	functions []uint32 // type of each function, imported ones first
	imported  int
	memories  int
	bodies    int
	exports   map[string]export
	minPages  uint32
}

type export struct {
	kind  byte
	index uint32
}

func (d *decoder) sections(module []byte) error {
	r := &reader{data: module[8:], at: 8}
	last := 0
	for len(r.data) > 0 {
		id := r.byte()
		size := r.u32()
		at := r.at
		body := &reader{data: r.take(uint64(size)), at: at}
		if r.err != nil {
			return fmt.Errorf("section %d: %w", id, r.err)
		}
		if id != secCustom {
			position, known := order[id]
			switch {
			case id == secTag:
				return unsupported("exceptions")
			case !known:
				return fmt.Errorf("unknown section %d", id)
			case position <= last:
				return fmt.Errorf("section %d is repeated or out of order", id)
			}
			last = position
		}
		if err := d.section(id, body); err != nil {
			return fmt.Errorf("section %d: %w", id, err)
		}
	}
	return d.complete()
}

// section reads those sections that say what a module asks for, and of the code the
// number of locals. The rest is the compiler's.
func (d *decoder) section(id byte, r *reader) error {
	read := d.reading(id)
	if read == nil {
		return nil
	}
	if err := read(r); err != nil {
		return err
	}
	if r.err == nil && len(r.data) > 0 {
		r.fail("%d bytes too many", len(r.data))
	}
	return r.err
}

func (d *decoder) reading(id byte) func(*reader) error {
	switch id {
	case secType:
		return d.typeSection
	case secImport:
		return d.importSection
	case secFunction:
		return d.functionSection
	case secTable:
		return d.tableSection
	case secMemory:
		return d.memorySection
	case secExport:
		return d.exportSection
	case secStart:
		return d.startSection
	case secCode:
		return d.codeSection
	}
	return nil
}

func (d *decoder) complete() error {
	if defined := len(d.functions) - d.imported; defined != d.bodies {
		return fmt.Errorf("%d functions with %d bodies", defined, d.bodies)
	}
	return nil
}

const formFunction = 0x60

func (d *decoder) typeSection(r *reader) error {
	for range r.count("types", maxTypes) {
		if form := r.byte(); form != formFunction && r.err == nil {
			return unsupported(fmt.Sprintf("types of form %#x (garbage collection)", form))
		}
		s := signature{params: valueTypes(r), results: valueTypes(r)}
		if r.err != nil {
			return r.err
		}
		d.types = append(d.types, s)
	}
	return r.err
}

func valueTypes(r *reader) string {
	types := string(r.take(uint64(r.count("parameters or results", maxParams))))
	for i := range len(types) {
		if !isValueType(types[i]) {
			r.fail("unknown value type %#x", types[i])
		}
	}
	return types
}

func isValueType(t byte) bool {
	return t >= 0x7b && t <= 0x7f || isReference(t)
}

func isReference(t byte) bool { return t == 0x70 || t == 0x6f }

func (d *decoder) functionSection(r *reader) error {
	for range r.count("functions", maxFunctions) {
		if err := d.addFunction(r.u32()); err != nil {
			return err
		}
	}
	return r.err
}

func (d *decoder) addFunction(typeIndex uint32) error {
	if uint64(typeIndex) >= uint64(len(d.types)) {
		return fmt.Errorf("function type %d of %d", typeIndex, len(d.types))
	}
	d.functions = append(d.functions, typeIndex)
	return nil
}

func (d *decoder) signatureOf(function uint32) (signature, bool) {
	if uint64(function) >= uint64(len(d.functions)) {
		return signature{}, false
	}
	return d.types[d.functions[function]], true
}

func (d *decoder) tableSection(r *reader) error {
	total := uint64(0)
	for range r.count("tables", maxTables) {
		if t := r.byte(); !isReference(t) && r.err == nil {
			return unsupported(fmt.Sprintf("tables of type %#x", t))
		}
		min, _, err := limits(r, "table")
		if err != nil {
			return err
		}
		if total += uint64(min); total > maxTableSize {
			return &limitError{fmt.Sprintf("%d table entries, the limit is %d", total, maxTableSize)}
		}
	}
	return r.err
}

func (d *decoder) memorySection(r *reader) error {
	n := r.u32()
	if n > 1 {
		return unsupported(fmt.Sprintf("%d memories: exactly one is wanted", n))
	}
	if n == 0 {
		return r.err
	}
	min, max, err := limits(r, "memory")
	if err != nil {
		return err
	}
	if min > maxPages || max != noMax && (max > maxPages || max < min) {
		return fmt.Errorf("memory of %d to %d pages", min, max)
	}
	d.memories, d.minPages = 1, min
	return r.err
}

const noMax = ^uint32(0)

func limits(r *reader, what string) (min, max uint32, err error) {
	flags := r.byte()
	switch {
	case r.err != nil:
		return 0, 0, r.err
	case flags&4 != 0:
		return 0, 0, unsupported("64-bit " + what)
	case flags&2 != 0:
		return 0, 0, unsupported("shared " + what + " (threads)")
	case flags > 1:
		return 0, 0, errors.New("unknown limits of a " + what)
	}
	min, max = r.u32(), noMax
	if flags == 1 {
		max = r.u32()
	}
	return min, max, r.err
}

func (d *decoder) codeSection(r *reader) error {
	count := r.count("function bodies", maxFunctions)
	for i := range count {
		at := r.at
		body := &reader{data: r.take(uint64(r.u32())), at: at}
		if err := countLocals(body); err != nil {
			return fmt.Errorf("function %d: %w", int(i)+d.imported, err)
		}
		if r.err != nil {
			return r.err
		}
	}
	d.bodies = int(count)
	return r.err
}

func countLocals(r *reader) error {
	total := uint64(0)
	for range r.count("groups of locals", maxLocals) {
		total += uint64(r.u32())
		if t := r.byte(); !isValueType(t) && r.err == nil {
			return fmt.Errorf("unknown value type %#x", t)
		}
		if total > maxLocals {
			return &limitError{fmt.Sprintf("a function with %d locals or more, the limit is %d", total, maxLocals)}
		}
	}
	return r.err
}
