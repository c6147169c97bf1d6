package wasmbin

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/aircoding/air/hostabi"
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

var order = [...]byte{
	secType: 1, secImport: 2, secFunction: 3, secTable: 4, secMemory: 5, secGlobal: 6, secExport: 7,
	secStart: 8, secElement: 9, secDataCount: 10, secCode: 11, secData: 12,
}

// sections are a module's parts by id, as they are in the file.
type sections struct {
	known [secTag]reader // data is nil where the module has no such section
	names reader         // content of the first custom section "name"
}

func (s *sections) has(id byte) bool { return s.known[id].data != nil }

// split finds the sections of a module whose header is right.
func split(module []byte) (s sections, err error) {
	r := &reader{data: module, pos: 8}
	last := byte(0)
	for r.left() > 0 {
		id := r.byte()
		body := r.part(uint64(r.u32()))
		if r.err != nil {
			return s, fmt.Errorf("section %d: %w", id, r.err)
		}
		switch {
		case id == secCustom:
			err = s.custom(body)
		case id == secTag:
			err = unsupported("exceptions")
		case int(id) >= len(order):
			err = fmt.Errorf("unknown section %d", id)
		case order[id] <= last:
			err = fmt.Errorf("section %d is repeated or out of order", id)
		default:
			last, s.known[id] = order[id], body
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *sections) custom(body reader) error {
	name := body.name()
	if body.err != nil {
		return fmt.Errorf("custom section: %w", body.err)
	}
	if name == "name" && s.names.data == nil {
		s.names = body
	}
	return nil
}

// outline is what a module declares: all of it but globals, segments and code.
type outline struct {
	sections
	allowed map[importName]signature // what a guest may import; nil: the module is no guest

	types     []signature
	imports   []imported
	functions []uint32 // type of each function, imported ones first
	tables    []table  // defined ones
	memories  []limits // defined ones
	exports   []export
	exported  map[string]int // index into exports
	start     int64          // function, or none
	dataCount int64          // as announced, or none

	importedOf [kindTag]int // how many imports of each kind
}

const none = -1

// outlineOf decodes the outline. The allowed imports are given for a guest, for which
// stricter rules hold.
func outlineOf(module []byte, allowed map[importName]signature) (*outline, error) {
	s, err := split(module)
	if err != nil {
		return nil, err
	}
	o := &outline{sections: s, allowed: allowed, exported: map[string]int{}, start: none, dataCount: none}
	for _, section := range []struct {
		id   byte
		read func(*reader) error
	}{
		{secType, o.readTypes}, {secImport, o.readImports}, {secFunction, o.readFunctions},
		{secTable, o.readTables}, {secMemory, o.readMemories}, {secExport, o.readExports},
		{secStart, o.readStart}, {secDataCount, o.readDataCount},
	} {
		if err := o.read(section.id, section.read); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// read decodes a section, if the module has it, to its end.
func (o *outline) read(id byte, read func(*reader) error) error {
	if !o.has(id) {
		return nil
	}
	r := o.known[id]
	err := read(&r)
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return fmt.Errorf("section %d: %w", id, err)
	}
	return nil
}

func (o *outline) readTypes(r *reader) error {
	for range r.count("types", maxTypes) {
		if form := r.byte(); form != formFunction && r.err == nil {
			return unknownForm(form)
		}
		s := signature{params: valueTypes(r), results: valueTypes(r)}
		if r.err != nil {
			return r.err
		}
		o.types = append(o.types, s)
	}
	return r.err
}

const formFunction = 0x60

func unknownForm(form byte) error {
	switch form {
	case 0x4e, 0x4f, 0x50, 0x5e, 0x5f:
		return unsupported(fmt.Sprintf("types of form %#x (garbage collection)", form))
	}
	return fmt.Errorf("unknown form of type %#x", form)
}

func valueTypes(r *reader) string {
	types := string(r.take(uint64(r.count("parameters or results", maxParams))))
	for i := range len(types) {
		checkValueType(r, types[i])
	}
	return types
}

func (r *reader) valueType() byte {
	t := r.byte()
	checkValueType(r, t)
	return t
}

func checkValueType(r *reader, t byte) {
	switch {
	case r.err != nil || isValueType(t):
	case t >= 0x63 && t <= 0x74:
		r.refuse(unsupported(fmt.Sprintf("values of type %#x (garbage collection or exceptions)", t)))
	default:
		r.fail("unknown value type %#x", t)
	}
}

func isValueType(t byte) bool {
	return t >= typeV128 && t <= typeI32 || isReference(t)
}

const (
	typeV128 = 0x7b
	typeF64  = 0x7c
	typeF32  = 0x7d
	typeI64  = 0x7e
	typeI32  = 0x7f
)

func isReference(t byte) bool { return t == 0x70 || t == 0x6f }

// signature is a function type in its binary form: parameters, then results.
type signature struct{ params, results string }

func (s signature) String() string {
	return fmt.Sprintf("(%s) -> (%s)", typeNames(s.params), typeNames(s.results))
}

func typeNames(types string) string {
	var b bytes.Buffer
	for i := range len(types) {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == 16 {
			b.WriteString("…")
			break
		}
		b.WriteString(hostabi.ValueType(types[i]).String())
	}
	return b.String()
}

func (o *outline) readFunctions(r *reader) error {
	for range r.count("functions", maxFunctions) {
		if err := o.addFunction(r.u32()); err != nil {
			return err
		}
	}
	return r.err
}

func (o *outline) addFunction(typeIndex uint32) error {
	if uint64(typeIndex) >= uint64(len(o.types)) {
		return fmt.Errorf("function type %d of %d", typeIndex, len(o.types))
	}
	o.functions = append(o.functions, typeIndex)
	return nil
}

func (o *outline) definedFunctions() int { return len(o.functions) - o.importedOf[kindFunction] }

func (o *outline) signatureOf(function uint32) (signature, bool) {
	if uint64(function) >= uint64(len(o.functions)) {
		return signature{}, false
	}
	return o.types[o.functions[function]], true
}

type table struct {
	element byte // type of reference
	limits
}

func (o *outline) readTables(r *reader) error {
	total := uint64(0)
	for range r.count("tables", maxTables) {
		t, err := r.tableType()
		if err != nil {
			return err
		}
		if total += uint64(t.min); total > maxTableSize && o.allowed != nil {
			return &limitError{fmt.Sprintf("%d table entries, the limit is %d", total, maxTableSize)}
		}
		o.tables = append(o.tables, t)
	}
	return r.err
}

func (r *reader) tableType() (t table, err error) {
	if t.element = r.byte(); !isReference(t.element) && r.err == nil {
		return t, unsupported(fmt.Sprintf("tables of type %#x", t.element))
	}
	t.limits, err = r.limits("table")
	if err == nil && t.bounded && t.max < t.min {
		err = fmt.Errorf("table of %d to %d entries", t.min, t.max)
	}
	return t, err
}

func (o *outline) readMemories(r *reader) error {
	n := r.u32()
	if n > 1 {
		return unsupported(fmt.Sprintf("%d memories: exactly one is wanted", n))
	}
	for range n {
		m, err := r.memoryType()
		if err != nil {
			return err
		}
		o.memories = append(o.memories, m)
	}
	if len(o.memories)+o.importedOf[kindMemory] > 1 {
		return unsupported("several memories")
	}
	return r.err
}

func (r *reader) memoryType() (limits, error) {
	m, err := r.limits("memory")
	if err == nil && (m.min > maxPages || m.bounded && (m.max > maxPages || m.max < m.min)) {
		err = fmt.Errorf("memory of %d to %d pages", m.min, m.max)
	}
	return m, err
}

type limits struct {
	min, max uint32
	bounded  bool // there is a max
}

func (r *reader) limits(what string) (l limits, err error) {
	flags := r.byte()
	switch {
	case r.err != nil:
		return l, r.err
	case flags > 7:
		return l, errors.New("unknown limits of a " + what)
	case flags&4 != 0:
		return l, unsupported("64-bit " + what)
	case flags&2 != 0:
		return l, unsupported("shared " + what + " (threads)")
	}
	if l.min, l.bounded = r.u32(), flags == 1; l.bounded {
		l.max = r.u32()
	}
	return l, r.err
}

func (o *outline) readStart(r *reader) error {
	index := r.u32()
	if r.err != nil {
		return r.err
	}
	s, ok := o.signatureOf(index)
	if !ok || s != (signature{}) {
		return fmt.Errorf("start function %d is not one without parameters and results", index)
	}
	o.start = int64(index)
	return nil
}

func (o *outline) readDataCount(r *reader) error {
	o.dataCount = int64(r.u32())
	return r.err
}

// bodies calls each for every function body with its index among all functions; each
// need not read to the end.
func (o *outline) bodies(each func(function int, body *reader) error) error {
	if !o.has(secCode) && o.definedFunctions() > 0 {
		return fmt.Errorf("%d functions with 0 bodies", o.definedFunctions())
	}
	return o.read(secCode, func(r *reader) error {
		count := int(r.count("function bodies", maxFunctions))
		if r.err == nil && count != o.definedFunctions() {
			return fmt.Errorf("%d functions with %d bodies", o.definedFunctions(), count)
		}
		for i := range count {
			size := r.u32()
			if size > maxBody {
				return &limitError{fmt.Sprintf("a function of %d bytes, the limit is %d", size, maxBody)}
			}
			body := r.part(uint64(size))
			if r.err != nil {
				return r.err
			}
			if err := each(i+o.importedOf[kindFunction], &body); err != nil {
				return fmt.Errorf("function %d: %w", i+o.importedOf[kindFunction], err)
			}
		}
		return r.err
	})
}

// locals calls each for every group of a body's locals.
func locals(r *reader, groups uint32, each func(n uint32, t byte)) error {
	total := uint64(0)
	for range groups {
		n, t := r.u32(), r.valueType()
		if total += uint64(n); total > maxLocals {
			return &limitError{fmt.Sprintf("a function with %d locals or more, the limit is %d", total, maxLocals)}
		}
		each(n, t)
	}
	return r.err
}

func groupsOfLocals(r *reader) uint32 { return r.count("groups of locals", maxLocals) }
