package wasmbin

import (
	"fmt"
	"unicode/utf8"
)

// reader decodes WebAssembly's binary encoding. The first error stays, and after it every
// read returns zero, so that a decoder checks once, before it uses what it read.
type reader struct {
	data []byte
	at   int // of data in the module, for messages
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("offset %#x: %s", r.at, fmt.Sprintf(format, args...))
	}
	r.data = nil
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.fail("%d bytes wanted, %d are left", n, len(r.data))
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	r.at += int(n)
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// u32 decodes an unsigned LEB128. Padded encodings are valid, and linkers write them,
// but a u32 has five bytes at most and no bits beyond the 32nd.
func (r *reader) u32() uint32 { return uint32(r.leb(5, 32)) }

func (r *reader) leb(maxBytes int, bits uint) (v uint64) {
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

// count reads the length of a vector whose items take at least one byte each.
func (r *reader) count(what string, limit uint32) uint32 {
	n := r.u32()
	if n > limit {
		r.tooMany(what, n, limit)
		return 0
	}
	if uint64(n) > uint64(len(r.data)) {
		r.fail("%d %s in %d bytes", n, what, len(r.data))
		return 0
	}
	return n
}

func (r *reader) tooMany(what string, n, limit uint32) {
	if r.err == nil {
		r.err = &limitError{fmt.Sprintf("%d %s, the limit is %d", n, what, limit)}
	}
	r.data = nil
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
