package wasmtests

import "bytes"

// Locals declares 2**32-1 locals in 39 bytes, for which a compiler may allocate (G10).
func Locals() []byte {
	return module(join(leb(1), leb(1<<32-1), []byte{0x7f, 0x41, 0, 0x0b}))
}

// Nest is 200,000 nested blocks: recursion or quadratic work in a compiler (G10).
func Nest() []byte {
	return module(join([]byte{0}, bytes.Repeat([]byte{0x02, 0x40}, 200_000), bytes.Repeat([]byte{0x0b}, 200_000), []byte{0x41, 0, 0x0b}))
}

// BranchTable is one br_table of 500,000 targets (G10).
func BranchTable() []byte {
	return module(join([]byte{0, 0x02, 0x40, 0x20, 0, 0x0e}, leb(500_000), make([]byte, 500_001), []byte{0x0b, 0x41, 0, 0x0b}))
}

// LocalsTimesLoops is 9,000 locals times 9,000 loops: every loop head joins every local
// (G18).
func LocalsTimesLoops() []byte {
	body := join(leb(1), leb(9_000), []byte{0x7f}, bytes.Repeat([]byte{0x03, 0x40}, 9_000))
	for i := range uint64(9_000) {
		body = join(body, []byte{0x20}, leb(i), []byte{0x41, 1, 0x6a, 0x21}, leb(i), []byte{0x20}, leb(i), []byte{0x0d, 0, 0x0b})
	}
	return module(join(body, []byte{0x41, 0, 0x0b}))
}

// functions is 300,000 functions of four bytes (G10).
func functions() []byte { return module(repeat([]byte{0, 0x20, 0, 0x0b}, 300_000)...) }

// straight is one function of n additions, without a branch (G10). A million of them take
// a compiler seconds, and an idle machine is done within the compile limit.
func straight(n int) []byte {
	return guest(1, join([]byte{0, 0x20, 0}, bytes.Repeat([]byte{0x20, 0, 0x6a}, n), []byte{0x1a}, answer()), truth())
}

// truth is a data segment at the beginning of memory.
func truth() []byte { return join([]byte{0, 0x41, 0, 0x0b}, leb(4), []byte("true")) }

// filled has n MiB of data segments, all for the same place in a memory of one (G10).
func filled(n int) []byte {
	segment := join([]byte{0, 0x41, 0, 0x0b}, leb(1<<20), bytes.Repeat([]byte{'A'}, 1<<20))
	segments := append(repeat(segment, n), truth())
	return guest(16, join([]byte{0}, answer()), segments...)
}

// twoMemories exports the first of two (G8).
func twoMemories() []byte {
	return bytes.Replace(module([]byte{0, 0x41, 0, 0x0b}), Section(5, Vector([]byte{0, 1})), Section(5, Vector([]byte{0, 1}, []byte{0, 1})), 1)
}

// overlong has the opcode of v128.const, 12, in two bytes, as the specification allows:
// fd 8c 00. Whoever takes one byte for the opcode reads an i16x8.shr_s, an unreachable and
// sixteen nops, and that is valid too (G17). Numbers and an opcode of the other prefix are
// as long as they may be. It answers true when read as specified.
func overlong() []byte {
	long := func(n byte) []byte { return []byte{n | 0x80, 0x80, 0x80, 0x80, 0} }
	vector := bytes.Repeat([]byte{1}, 16)
	return guest(1, join([]byte{0},
		[]byte{0xfd, 12}, vector, []byte{0x41, 0}, []byte{0xfd, 0x8c, 0}, vector, // v128, i32, v128
		[]byte{0xfd, 0x53, 0x45, 0x04, 0x40, 0x00, 0x0b}, // v128.any_true, eqz, if unreachable end
		[]byte{0x1a, 0x1a},                                                                                      // drop the others
		[]byte{0x41}, long(64), []byte{0x41}, long(1), []byte{0x41}, long(4), []byte{0xfc}, long(11), []byte{0}, // memory.fill
		[]byte{0x20}, long(0), []byte{0x1a}, // local.get 0, drop
		answer()), truth())
}

func repeat(body []byte, n int) [][]byte {
	bodies := make([][]byte, n)
	for i := range bodies {
		bodies[i] = body
	}
	return bodies
}

// module has functions of type (i32) -> (i32), of which the first is air_call, a page of
// memory, and the exports of a guest.
func module(bodies ...[]byte) []byte {
	sized := make([][]byte, len(bodies))
	for i, b := range bodies {
		sized[i] = join(leb(uint64(len(b))), b)
	}
	return join([]byte("\x00asm\x01\x00\x00\x00"),
		Section(1, Vector([]byte{0x60, 1, 0x7f, 1, 0x7f})),
		Section(3, Vector(repeat([]byte{0}, len(bodies))...)),
		Section(5, Vector([]byte{0, 1})),
		Section(7, Vector([]byte("\x06memory\x02\x00"), []byte("\x08air_call\x00\x00"))),
		Section(10, Vector(sized...)))
}

// guest has some pages of memory, data, and an air_call that may call function 0, which is
// output_write.
func guest(pages uint64, body []byte, data ...[]byte) []byte {
	return join([]byte("\x00asm\x01\x00\x00\x00"),
		Section(1, Vector([]byte{0x60, 1, 0x7f, 1, 0x7f}, []byte{0x60, 2, 0x7f, 0x7f, 1, 0x7f})),
		Section(2, Vector([]byte("\x06air_v1\x0coutput_write\x00\x01"))),
		Section(3, Vector([]byte{0})),
		Section(5, Vector(join([]byte{0}, leb(pages)))),
		Section(7, Vector([]byte("\x06memory\x02\x00"), []byte("\x08air_call\x00\x01"))),
		Section(10, Vector(join(leb(uint64(len(body))), body))),
		Section(11, Vector(data...)))
}

// answer is the end of a function that writes the first four bytes of memory.
func answer() []byte { return []byte{0x41, 0, 0x41, 4, 0x10, 0, 0x0b} }

// Section encodes a section.
func Section(id byte, body []byte) []byte {
	return join([]byte{id}, leb(uint64(len(body))), body)
}

// Vector encodes items with their count.
func Vector(items ...[]byte) []byte {
	return join(append([][]byte{leb(uint64(len(items)))}, items...)...)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func leb(n uint64) (b []byte) {
	for ; n > 0x7f; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}
