package event

import "sync"

// Publish shows an event, without secrets, to subscribers and stores nothing. An event of a durable type
// is not shown: it happened when it was stored, or not at all.
func (s *Store) Publish(e Event) {
	if IsDurable(e.Type) {
		return
	}
	payload, err := s.redact(e.Payload)
	if err != nil {
		return // what cannot be redacted is not shown
	}
	e.Payload = payload
	s.bus.send(s.complete(e), false)
}

// Subscribe calls f, from one goroutine, with the events that this Store appends or
// publishes; what other processes append is seen by List alone. A slow f delays nobody:
// events wait for it, but of those that are not stored at most some thousand. After
// cancel, which waits until f has had the events before it, f is not called again.
func (s *Store) Subscribe(f func(Event)) (cancel func()) {
	sub := &subscriber{f: f, done: make(chan struct{})}
	sub.wake.L = &sub.mu
	go sub.run()
	s.bus.add(sub)
	return func() {
		s.bus.remove(sub)
		sub.close()
	}
}

// maxWaiting bounds the memory that a guest's messages take when nobody reads them.
const maxWaiting = 4096

// bus hands events to subscribers. Its zero value has none.
type bus struct {
	mu          sync.Mutex
	subscribers map[*subscriber]bool
}

func (b *bus) add(s *subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subscribers == nil {
		b.subscribers = map[*subscriber]bool{}
	}
	b.subscribers[s] = true
}

func (b *bus) remove(s *subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.subscribers, s)
}

func (b *bus) send(e Event, durable bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subscribers {
		s.put(e, durable)
	}
}

type subscriber struct {
	f    func(Event)
	done chan struct{} // closed when run has ended

	mu      sync.Mutex
	wake    sync.Cond
	waiting []Event
	closed  bool
}

func (s *subscriber) put(e Event, durable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if durable || len(s.waiting) < maxWaiting {
		s.waiting = append(s.waiting, e)
		s.wake.Signal()
	}
}

func (s *subscriber) close() {
	s.mu.Lock()
	s.closed = true
	s.wake.Signal()
	s.mu.Unlock()
	<-s.done
}

func (s *subscriber) run() {
	defer close(s.done)
	for {
		batch := s.take()
		if len(batch) == 0 {
			return
		}
		for _, e := range batch {
			s.f(e)
		}
	}
}

// take waits for events; none means that the subscriber is closed.
func (s *subscriber) take() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.waiting) == 0 && !s.closed {
		s.wake.Wait()
	}
	batch := s.waiting
	s.waiting = nil
	return batch
}
