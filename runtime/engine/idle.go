package engine

import (
	"slices"
	"time"
)

// idleTime is how long a loaded worker waits for a next call before it ends.
const idleTime = time.Minute

type idleWorker struct {
	key    workerKey
	worker *worker
	since  time.Time
}

// takeIdle returns the most recently used idle worker of a key, or nil. The
// caller holds p.mu, as in all of this file.
func (p *Pool) takeIdle(key workerKey) *worker {
	for i := len(p.idle) - 1; i >= 0; i-- {
		if p.idle[i].key != key {
			continue
		}
		w := p.idle[i].worker
		select {
		case <-w.exited: // somebody killed it
			p.retireIdle(i)
		default:
			p.idle = slices.Delete(p.idle, i, i+1)
			return w
		}
	}
	return nil
}

// park keeps a worker for the next call, which may be waiting already, or ends it.
func (p *Pool) park(m Module, w *worker) {
	if p.closed || !p.fits(p.room) || p.idleOf(m.key()) >= p.maxIdle(m) {
		p.retire(w)
	} else {
		p.idle = append(p.idle, idleWorker{m.key(), w, p.clock.now()})
		p.arm()
	}
	p.grant()
}

func (p *Pool) idleOf(key workerKey) (n int) {
	for _, i := range p.idle {
		if i.key == key {
			n++
		}
	}
	return n
}

// arm sees to it that the worker that waits longest ends in time.
func (p *Pool) arm() {
	if p.disarm == nil && len(p.idle) > 0 {
		p.disarm = p.clock.after(p.idle[0].since.Add(idleTime).Sub(p.clock.now()), p.shrink)
	}
}

func (p *Pool) shrink() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.disarm = nil
	for len(p.idle) > 0 && !p.clock.now().Before(p.idle[0].since.Add(idleTime)) {
		p.retireIdle(0)
	}
	p.arm()
}

func (p *Pool) retireIdle(i int) {
	p.retire(p.idle[i].worker)
	p.idle = slices.Delete(p.idle, i, i+1)
}

// retire ends a worker and gives back its room.
func (p *Pool) retire(w *worker) {
	w.release(errRetired)
	p.room = p.room.without(w.need)
}
