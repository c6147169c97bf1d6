package wazero

import (
	"bytes"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/wasmbin"
)

// memory backs the linear memory of one instance after the other. The address space for
// the limit is reserved once; pages become accessible as the guest grows, which moves
// and copies nothing, and are zero again before the next instance sees them.
type memory struct {
	limit      uint64
	reserved   []byte
	accessible uint64
	size       uint64 // of the instance that has it; beyond that all is zero
	taken      bool   // an instance has it, or failed before it gave it back
	refused    bool
}

// step is how much is looked at before it is written: the size of a page on most machines.
const step = 4 << 10

// keepBytes is how much in one piece is cleared in place for the next call. More goes back
// to the kernel.
const keepBytes = 16 << 20

var _ experimental.MemoryAllocator = (*memory)(nil)

// Allocate implements experimental.MemoryAllocator.
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory {
	if m.taken { // by an instance that was not made in the end
		m.Free()
	}
	m.taken = true
	return m
}

// Reallocate implements experimental.LinearMemory; nil is a memory.grow that fails.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.limit || !m.open(size) {
		m.refused = true
		return nil
	}
	m.size = size
	return m.reserved[:size:size]
}

func (m *memory) open(size uint64) bool {
	if m.reserved == nil {
		b, err := unix.Mmap(-1, 0, int(m.limit), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		if err != nil {
			return false
		}
		m.reserved = b
	}
	if size <= m.accessible {
		return true
	}
	if unix.Mprotect(m.reserved[m.accessible:size], unix.PROT_READ|unix.PROT_WRITE) != nil {
		return false
	}
	m.accessible = size
	return true
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() {
	m.taken = false
	m.wipe(0, m.size)
	m.size = 0
}

// restore makes the memory hold the runs, and zero elsewhere. Most of it is untouched: what
// is right already is only read, which costs less than writing it, and puts no memory
// behind pages that the guest never wrote to.
func (m *memory) restore(runs []wasmbin.Run) {
	at := uint64(0)
	for _, run := range runs {
		m.wipe(at, run.Offset)
		at = run.Offset + uint64(len(run.Data))
		copyChanged(m.reserved[run.Offset:at], run.Data)
	}
	m.wipe(at, m.size)
}

// copyChanged copies the pages that differ.
func copyChanged(dst, src []byte) {
	for len(src) > 0 {
		n := min(len(src), step)
		if !bytes.Equal(dst[:n], src[:n]) {
			copy(dst[:n], src[:n])
		}
		dst, src = dst[n:], src[n:]
	}
}

// wipe makes a part of the memory zero.
func (m *memory) wipe(from, to uint64) {
	if to-from > keepBytes && giveBack(m.reserved, from, to) {
		return
	}
	var zero [step]byte
	for part := m.reserved[from:to]; len(part) > 0; {
		n := min(len(part), step)
		if !bytes.Equal(part[:n], zero[:n]) {
			clear(part[:n])
		}
		part = part[n:]
	}
}
