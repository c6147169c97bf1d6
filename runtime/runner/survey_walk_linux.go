package runner

import (
	"context"
	"sync"
)

// walkers is how many folders are looked through at once.
const walkers = 4

// walk looks through a folder and all below it. What lies over a folder is found before what
// lies over something in it.
func (s *survey) walk(ctx context.Context, top pending) error {
	w := &walk{survey: s, rest: []pending{top}}
	w.changed.L = &w.mu
	var all sync.WaitGroup
	for range walkers {
		all.Go(func() { w.work(ctx) })
	}
	all.Wait()
	return w.err
}

// walk is what several goroutines have still to look through.
type walk struct {
	*survey
	mu      sync.Mutex
	changed sync.Cond
	rest    []pending
	busy    int // goroutines that may find more
	looked  int
	err     error // the first
}

func (w *walk) work(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.next() {
		at := w.rest[len(w.rest)-1]
		w.rest = w.rest[:len(w.rest)-1]
		w.busy++
		w.mu.Unlock()
		more, err := w.folder(at)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		w.mu.Lock()
		w.busy--
		w.looked++
		w.rest = append(w.rest, more...)
		if err == nil && w.looked+len(w.rest) > maxFolders {
			err = tooManyFolders(w.root)
		}
		if w.err == nil {
			w.err = err
		}
		w.changed.Broadcast()
	}
}

// next waits until there is a folder to look through, and reports whether there is one.
func (w *walk) next() bool {
	for len(w.rest) == 0 && w.busy > 0 && w.err == nil {
		w.changed.Wait()
	}
	return len(w.rest) > 0 && w.err == nil
}
