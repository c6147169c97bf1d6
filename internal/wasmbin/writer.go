package wasmbin

import "encoding/binary"

// writer encodes WebAssembly's binary format in its shortest form.
type writer struct{ out []byte }

func (w *writer) byte(b byte)    { w.out = append(w.out, b) }
func (w *writer) bytes(b []byte) { w.out = append(w.out, b...) }

func (w *writer) u32(v uint32) {
	if v < 0x80 {
		w.out = append(w.out, byte(v))
		return
	}
	w.out = binary.AppendUvarint(w.out, uint64(v))
}

func (w *writer) signed(v int64) {
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			w.out = append(w.out, b)
			return
		}
		w.out = append(w.out, b|0x80)
	}
}

func (w *writer) name(s string) {
	w.u32(uint32(len(s)))
	w.out = append(w.out, s...)
}

// open leaves room for the length of what follows, and close fills it in: the length is
// known only then, and how many bytes it takes.
func (w *writer) open() (mark int) {
	w.out = append(w.out, 0, 0, 0, 0, 0)
	return len(w.out)
}

func (w *writer) close(mark int) {
	var length [5]byte
	n := binary.PutUvarint(length[:], uint64(len(w.out)-mark))
	start := mark - len(length)
	copy(w.out[start:], length[:n])
	w.out = w.out[:start+n+copy(w.out[start+n:], w.out[mark:])]
}

func (w *writer) section(id byte) (mark int) {
	w.byte(id)
	return w.open()
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
