package oci

import (
	"fmt"
	"sync"
)

const (
	defaultQuota          = 10 << 30 // bytes, of a registry in a folder
	defaultTemporaryQuota = 1 << 30  // bytes, of one that goes when it stops
	// entryCost is what a small file or a folder counts for, whatever it holds: file
	// systems give out blocks.
	entryCost = 4 << 10
)

// meter counts what a registry holds and refuses what would be too much. It is safe for
// concurrent use.
type meter struct {
	limit   int64
	reclaim func() // gives back what nobody needs any more; may be nil

	mu   sync.Mutex
	used int64
}

// fullError is a meter's refusal.
type fullError struct{ asked, used, limit int64 }

func (e *fullError) Error() string {
	return fmt.Sprintf("the registry is full: it holds %d of at most %d bytes, and %d more do not fit", e.used, e.limit, e.asked)
}

func (m *meter) take(n int64) error {
	err := m.tryTake(n)
	if err == nil || n > m.limit || m.reclaim == nil {
		return err
	}
	m.reclaim()
	return m.tryTake(n)
}

func (m *meter) tryTake(n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > m.limit-m.used {
		return &fullError{asked: n, used: m.used, limit: m.limit}
	}
	m.used += n
	return nil
}

// give says that n bytes taken before are free again.
func (m *meter) give(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= n
}

// reservation is a part of a meter that one upload has taken, and not used yet.
type reservation struct {
	meter *meter
	left  int64
}

func (m *meter) reserve(n int64) (*reservation, error) {
	n = max(n, 0)
	if err := m.take(n); err != nil {
		return nil, err
	}
	return &reservation{meter: m, left: n}, nil
}

// use takes n bytes out of what is reserved, and more from the meter if need be.
func (r *reservation) use(n int64) error {
	if more := n - r.left; more > 0 {
		if err := r.meter.take(more); err != nil {
			return err
		}
		r.left += more
	}
	r.left -= n
	return nil
}

// release gives back what was reserved and not used.
func (r *reservation) release() {
	r.meter.give(r.left)
	r.left = 0
}
