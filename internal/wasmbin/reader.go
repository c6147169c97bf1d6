package wasmbin

import (
	"fmt"
	"unicode/utf8"
)

// reader decodes WebAssembly's binary encoding. The first error stays, and after it every
// read returns zero, so that a decoder checks once, before it uses what it read.
type reader struct {
	data []byte
	pos  int // of the next byte in data
	base int // of data in the module, for messages
	err  error
}

func (r *reader) fail(format string, args ...any) {
	r.refuse(fmt.Errorf("offset %#x: %s", r.base+r.pos, fmt.Sprintf(format, args...)))
}

func (r *reader) refuse(err error) {
	if r.err == nil {
		r.err = err
	}
	r.data, r.pos = nil, 0
}

func (r *reader) left() int { return len(r.data) - r.pos }

// end fails when there is more to read.
func (r *reader) end() error {
	if r.left() > 0 {
		r.fail("%d bytes too many", r.left())
	}
	return r.err
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(r.left()) {
		r.fail("%d bytes wanted, %d are left", n, r.left())
		return nil
	}
	b := r.data[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b
}

// part takes n bytes as a reader of their own.
func (r *reader) part(n uint64) reader {
	base := r.base + r.pos
	return reader{data: r.take(n), base: base, err: r.err}
}

func (r *reader) byte() byte {
	if r.pos < len(r.data) {
		b := r.data[r.pos]
		r.pos++
		return b
	}
	r.take(1)
	return 0
}

// u32 decodes an unsigned LEB128. Padded encodings are valid, and linkers write them,
// but a u32 has five bytes at most and no bits beyond the 32nd.
func (r *reader) u32() uint32 {
	if r.pos < len(r.data) && r.data[r.pos] < 0x80 {
		r.pos++
		return uint32(r.data[r.pos-1])
	}
	return uint32(r.unsigned(5, 32))
}

func (r *reader) unsigned(maxBytes int, bits uint) (v uint64) {
	for i := range maxBytes {
		b := r.byte()
		shift := uint(7 * i)
		if rest := bits - shift; rest < 7 && b>>rest != 0 {
			r.fail("a number of more than %d bits", bits)
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
	r.fail("a number of more than %d bytes", maxBytes)
	return 0
}

func (r *reader) s32() int32 { return int32(r.signed(5, 32)) }
func (r *reader) s33() int64 { return r.signed(5, 33) }
func (r *reader) s64() int64 { return r.signed(10, 64) }

// signed decodes a signed LEB128. What the last possible byte has beyond the number's
// bits must repeat its sign.
func (r *reader) signed(maxBytes int, bits uint) (v int64) {
	for i := range maxBytes {
		b := r.byte()
		shift := uint(7 * i)
		septet := int64(int8(b<<1) >> 1) // sign-extended, as it would be if it is the last
		if rest := bits - shift; rest < 7 && septet>>(rest-1) != 0 && septet>>(rest-1) != -1 {
			r.fail("a number of more than %d bits", bits)
			return 0
		}
		if b&0x80 == 0 {
			return v | septet<<shift
		}
		v |= septet & 0x7f << shift
	}
	r.fail("a number of more than %d bytes", maxBytes)
	return 0
}

// count reads the length of a vector whose items take at least one byte each.
func (r *reader) count(what string, limit uint32) uint32 {
	n := r.u32()
	if n > limit {
		r.refuse(&limitError{fmt.Sprintf("%d %s, the limit is %d", n, what, limit)})
		return 0
	}
	if uint64(n) > uint64(r.left()) {
		r.fail("%d %s in %d bytes", n, what, r.left())
		return 0
	}
	return n
}

// limitError is a module that is valid perhaps, and more than AIR wants to compile.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

func (r *reader) name() string {
	b := r.take(uint64(r.u32()))
	if !utf8.Valid(b) {
		r.fail("a name that is not UTF-8")
		return ""
	}
	return string(b)
}
