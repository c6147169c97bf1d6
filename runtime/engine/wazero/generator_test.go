package wazero

import (
	"slices"
	"strconv"

	"github.com/aircoding/air/wasmtests"
)

// The modules here are made of random bytes, and mostly of what a compiler may take for a
// compare of 0 and an `and`. Each byte makes one choice, and 0 where there are none left,
// which makes the smallest thing that can stand in a place.

// kind is i32 or i64, and an index into what differs between them.
type kind int

const (
	i32 kind = iota
	i64
)

// Types of functions and blocks by index. Others have no parameters and at most one
// result, and a byte of their own.
const (
	typeGenerated = iota // i32 i32 i64 i64 -> i64
	typeReset            // nothing
	typeSame             // i32 -> i32, and next i64 -> i64
	_
	typePair // nothing -> i32 i32, and next i64 i64
	_
	typeCompare // i32 i32 -> i32, and next i64 i64 -> i32
	_
)

// Locals of generated functions: four parameters, two of each kind, and these.
const (
	localUnset   = 8  // i32, and next i64
	localCounter = 10 // of all loops together
	localTaken   = 11 // i64: which branches were taken
)

// moduleOf exports functions by number, and one that resets globals and memory.
func moduleOf(functions [][]byte) []byte {
	fixed := [][]byte{{0, 0x20, 0, 0x0b}, {0, 0x20, 0, 0x0b}, { // both kinds of same, reset
		0, 0x41, 6, 0x24, 0, 0x42, 0, 0x24, 1, 0x41, 0, 0x42, 5, 0x37, 3, 0, 0x41, 8, 0x42, 0, 0x37, 3, 0, 0x0b}}
	types := [][]byte{{typeSame}, {typeSame + 1}, {typeReset}}
	exports := [][]byte{append(wasmtests.Vector(split("reset")...), 0, 2)}
	var bodies [][]byte
	for i, f := range slices.Concat(fixed, functions) {
		bodies = append(bodies, wasmtests.Vector(split(string(f))...))
		if i >= len(fixed) {
			types = append(types, []byte{typeGenerated})
			exports = append(exports, append(wasmtests.Vector(split(strconv.Itoa(i-len(fixed)))...), 0, byte(i)|0x80, byte(i>>7)))
		}
	}
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		wasmtests.Section(1, wasmtests.Vector(
			[]byte{0x60, 4, 0x7f, 0x7f, 0x7e, 0x7e, 1, 0x7e}, []byte{0x60, 0, 0},
			[]byte{0x60, 1, 0x7f, 1, 0x7f}, []byte{0x60, 1, 0x7e, 1, 0x7e},
			[]byte{0x60, 0, 2, 0x7f, 0x7f}, []byte{0x60, 0, 2, 0x7e, 0x7e},
			[]byte{0x60, 2, 0x7f, 0x7f, 1, 0x7f}, []byte{0x60, 2, 0x7e, 0x7e, 1, 0x7f})),
		wasmtests.Section(3, wasmtests.Vector(types...)),
		wasmtests.Section(5, wasmtests.Vector([]byte{0, 1})),
		wasmtests.Section(6, wasmtests.Vector([]byte{0x7f, 1, 0x41, 0, 0x0b}, []byte{0x7e, 1, 0x42, 0, 0x0b})),
		wasmtests.Section(7, wasmtests.Vector(exports...)),
		wasmtests.Section(10, wasmtests.Vector(bodies...)))
}

// split makes a vector of bytes of a string.
func split(s string) (list [][]byte) {
	for i := range len(s) {
		list = append(list, []byte{s[i]})
	}
	return list
}

// function makes the body of one that ends soon and never traps.
func function(random []byte) []byte {
	g := generator{random: random, out: []byte{6, 2, 0x7f, 2, 0x7e, 1, 0x7f, 1, 0x7e, 1, 0x7f, 1, 0x7e}}
	for range 4 + g.pick(8) {
		if g.pick(3) == 0 {
			g.statement()
		} else {
			g.probe()
		}
	}
	g.number(i64)
	g.emit(0x20, localTaken, 0x85, 0x0b) // xor
	return g.out
}

// probe notes which way a branch went.
func (g *generator) probe() {
	note := []byte{0x20, localTaken, 0x42, 3, 0x7e, 0x42, 1, 0x7c, 0x21, localTaken, 0x0b} // n*3 + 1
	if g.pick(2) == 0 {
		g.condition()
		g.emit(0x04, 0x40)
	} else {
		g.emit(0x02, 0x40)
		g.condition()
		g.emit(0x0d, 0)
	}
	g.emit(note...)
}

type generator struct {
	random, out []byte
	depth       int // of numbers and statements in each other
}

// choose picks one of n, or one of the first few where it is deep enough.
func (g *generator) choose(n, few int) int {
	if g.depth > 2 {
		n = few
	}
	return g.pick(n)
}

func (g *generator) emit(code ...byte) { g.out = append(g.out, code...) }

func (g *generator) pick(n int) int {
	if len(g.random) == 0 {
		return 0
	}
	b := g.random[0]
	g.random = g.random[1:]
	return int(b) % n
}

// of emits an instruction, given for both kinds.
func (g *generator) of(k kind, opcodes ...byte) { g.emit(opcodes[k]) }

// value is the type of a number, or of a block that results in one.
func (k kind) value() byte { return 0x7f - byte(k) }

// local is one that is set now and then. Parameters never are.
func (g *generator) local(k kind) byte { return 4 + 2*byte(k) + byte(g.pick(2)) }

func (g *generator) parameter(k kind) byte { return 2*byte(k) + byte(g.pick(2)) }

// number leaves one on the stack.
func (g *generator) number(k kind) {
	g.depth++
	defer func() { g.depth-- }()
	switch g.choose(20, 3) {
	case 0:
		g.emit(0x20, g.parameter(k))
	case 1:
		g.emit(0x20, g.local(k))
	case 2:
		g.of(k, 0x41, 0x42)
		g.emit([][]byte{{0}, {7}, {0x7f}, {0x40}, {0x80, 0x80, 0x80, 0x80, 0x78}}[g.pick(5)]...)
	case 3, 4:
		g.and(k)
	case 5:
		g.and(k)
		g.disguise(k)
	case 6:
		g.number(k)
		g.number(k)
		g.emit([]byte{0x6a, 0x6b, 0x6c, 0x72, 0x73, 0x77, 0x78}[g.pick(7)] + 0x12*byte(k))
	case 7, 8:
		g.shift(k)
	case 9:
		g.number(k)
		g.emit(0x22, g.local(k))
	case 10:
		g.number(k)
		g.number(k)
		g.condition()
		g.emit([][]byte{{0x1b}, {0x1c, 1, k.value()}}[g.pick(2)]...)
	case 11, 12:
		g.block(k)
	default:
		g.numberOfAnother(k)
	}
}

func (g *generator) numberOfAnother(k kind) {
	switch g.pick(8) {
	case 0:
		g.emit(0x23, byte(k))
	case 1: // an older value on top
		g.number(k)
		g.statement()
	case 2:
		g.number(k)
		g.emit(0x10, byte(k))
	case 3:
		local := g.local(k)
		g.number(k)
		g.emit(0x21, local, 0x20, local)
	case 4:
		g.emit(0x41, byte(g.pick(8)))
		g.of(k, 0x28, 0x29)
		g.emit(0, 0)
	case 5:
		g.number(1 - k)
		g.of(k, 0xa7, []byte{0xac, 0xad}[g.pick(2)])
	case 6:
		g.condition()
		if k == i64 {
			g.emit(0xad)
		}
	case 7:
		g.number(k)
		g.of(k, []byte{0x67, 0x68, 0x69, 0xc0, 0xc1}[g.pick(5)], []byte{0x79, 0x7a, 0x7b, 0xc2, 0xc4}[g.pick(5)])
	}
}

// zero is a constant, in its shortest form or a longer one, or a local that is never set.
func (g *generator) zero(k kind) {
	switch g.pick(4) {
	case 0, 1:
		g.of(k, 0x41, 0x42)
		g.emit(0)
	case 2:
		g.of(k, 0x41, 0x42)
		g.emit(0x80, 0)
	case 3:
		g.emit(0x20, localUnset+byte(k))
	}
}

func (g *generator) and(k kind) {
	if g.pick(4) > 0 {
		g.emit(0x20, 2*byte(k), 0x20, 2*byte(k)+1)
	} else {
		g.number(k)
		g.number(k)
	}
	g.of(k, 0x71, 0x83)
}

// shift is mostly by a constant that shifts by 0.
func (g *generator) shift(k kind) {
	g.number(k)
	if g.pick(4) == 0 {
		g.number(k)
	} else {
		g.of(k, 0x41, 0x42)
		g.emit([][]byte{{0}, {0x20}, {0xc0, 0}, {3}}[g.pick(4)]...)
	}
	g.emit(0x74 + byte(g.pick(5)) + 0x12*byte(k))
}

// block is one that results in a number.
func (g *generator) block(k kind) {
	same := typeSame + byte(k)
	switch g.pick(6) {
	case 0, 1:
		g.emit(0x02+byte(g.pick(2)), k.value()) // block or loop
		g.number(k)
	case 2:
		g.number(k)
		g.emit(0x02+byte(g.pick(2)), same)
		g.statement()
	case 3:
		g.condition()
		g.emit(0x04, k.value())
		g.number(k)
		g.emit(0x05)
		g.number(k)
	case 4:
		g.number(k)
		g.condition()
		g.emit(0x04, same)
		g.statement()
		if g.pick(2) == 1 {
			g.emit(0x05, 0x01)
		}
	case 5:
		g.emit(0x02, k.value())
		g.number(k)
		g.condition()
		g.emit(0x0d, 0)
		g.statement()
	}
	g.emit(0x0b)
}

// condition leaves 0 or 1, mostly by an ordered compare with an `and`.
func (g *generator) condition() {
	k := kind(g.pick(2))
	compare := []byte{0x46, 0x51}[k] + byte(g.pick(10))
	switch g.pick(8) {
	case 0: // operands are results of a block
		g.emit(0x02, typePair+byte(k))
		g.operands(k)
		g.emit(0x0b, compare)
	case 1: // they are parameters
		g.operands(k)
		g.emit(0x02+byte(g.pick(2)), typeCompare+byte(k), compare, 0x0b)
	case 2:
		g.operands(k)
		g.condition()
		g.emit(0x04, typeCompare+byte(k), compare, 0x05, compare, 0x0b)
	default:
		g.operands(k)
		g.emit(compare)
	}
	if g.pick(4) == 1 {
		g.emit(0x45)
	}
}

func (g *generator) operands(k kind) {
	switch g.pick(8) {
	case 0:
		g.number(k)
		g.number(k)
	case 1, 2:
		g.and(k)
		g.disguise(k)
		g.zero(k)
		g.disguise(k)
	default:
		g.zero(k)
		g.and(k)
		for range g.pick(3) {
			g.disguise(k)
		}
	}
}

// disguise does something to the number on top that leaves it as it is, or nothing.
func (g *generator) disguise(k kind) {
	local := g.local(k)
	switch g.pick(13) {
	case 0:
	case 1, 2:
		g.of(k, 0x41, 0x42)
		g.emit([][]byte{{0}, {0xc0, 0}}[g.pick(2)]...)
		g.emit(0x74 + byte(g.pick(5)) + 0x12*byte(k))
	case 3:
		g.emit(0x22, local)
	case 4:
		g.emit(0x21, local, 0x20, local)
	case 5:
		g.emit(0x01)
	case 6: // drops a load
		g.emit(0x41, 0, 0x28, 0, byte(g.pick(8)), 0x1a)
	case 7:
		g.emit(0x24, byte(k), 0x23, byte(k))
	case 8: // a block through which it goes
		g.emit(0x02+byte(g.pick(2)), typeSame+byte(k))
		g.disguise(k)
		g.emit(0x0b)
	case 9:
		g.emit(0x41, 1, 0x04, typeSame+byte(k), 0x0b)
	case 10:
		g.condition()
		g.emit(0x21, g.local(i32))
	case 11:
		g.number(1 - k)
		g.emit(0x21, g.local(1-k))
	case 12:
		g.statement()
	}
}

// statement leaves the stack as it is.
func (g *generator) statement() {
	g.depth++
	defer func() { g.depth-- }()
	k := kind(g.pick(2))
	switch g.choose(10, 3) {
	case 0:
		g.emit(0x01)
	case 1, 2:
		g.number(k)
		g.emit(0x21, g.local(k))
	case 3:
		g.number(k)
		g.emit(0x24, byte(k))
	case 4:
		g.emit(0x41, byte(g.pick(8)))
		g.number(k)
		g.of(k, 0x36, 0x37)
		g.emit(0, 0)
	case 5:
		g.number(k)
		g.emit(0x1a)
	default:
		g.flow()
	}
}

func (g *generator) flow() {
	switch g.pick(5) {
	case 0:
		g.condition()
		g.emit(0x04, 0x40)
		g.statement()
		if g.pick(2) == 1 {
			g.emit(0x05)
			g.statement()
		}
	case 1:
		g.emit(0x02, 0x40)
		g.condition()
		g.emit(0x0d, 0)
		g.statement()
	case 2: // dead code
		g.emit(0x02, 0x40, 0x0c, 0)
		g.statement()
	case 3:
		g.condition()
		g.emit(0x04, 0x40)
		g.number(i64)
		g.emit(0x0f)
	case 4: // a loop that leaves when the counter is at its end
		g.emit(0x02, 0x40, 0x03, 0x40,
			0x20, localCounter, 0x41, 1, 0x6a, 0x22, localCounter, 0x41, 20, 0x4b, 0x0d, 1)
		g.statement()
		g.condition()
		g.emit(0x0d, 0, 0x0b)
	}
	g.emit(0x0b)
}
