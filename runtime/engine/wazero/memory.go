package wazero

import (
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// memory backs the linear memory of one instance after the other. The address space for
// the limit is reserved once; pages become accessible as the guest grows, which moves
// and copies nothing, and are zero again before the next instance sees them.
type memory struct {
	limit      uint64
	reserved   []byte
	accessible uint64
	refused    bool
}

// keepBytes is how much is cleared in place for the next call. More goes back to the
// kernel.
const keepBytes = 16 << 20

var _ experimental.MemoryAllocator = (*memory)(nil)

// Allocate implements experimental.MemoryAllocator.
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory; nil is a memory.grow that fails.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.limit || !m.open(size) {
		m.refused = true
		return nil
	}
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
	if m.accessible <= keepBytes {
		clear(m.reserved[:m.accessible])
		return
	}
	if unix.Madvise(m.reserved[:m.accessible], unix.MADV_DONTNEED) != nil {
		clear(m.reserved[:m.accessible])
	}
}
