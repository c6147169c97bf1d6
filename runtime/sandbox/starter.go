package sandbox

import (
	"errors"
	"os/exec"
	"runtime"
	"sync"
)

// ErrStarterClosed refuses a start after Close.
var ErrStarterClosed = errors.New("the starter of processes is closed")

// Starter starts processes from one thread that lives until the last of them is gone. The
// parent-death signal comes when the thread that started a process ends, and the thread of
// a goroutine may end at any time. The zero Starter is ready.
type Starter struct {
	// Bounded says that it starts workers only: its thread's bounding set is emptied once,
	// which saves each of them doing it.
	Bounded bool

	mu       sync.Mutex
	closed   bool
	requests chan func() // nil until the thread exists
	running  sync.WaitGroup
}

// Start starts a command. After a nil error the caller owes one call of Ended, once the
// process is gone.
func (s *Starter) Start(cmd *exec.Cmd) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrStarterClosed
	}
	if s.requests == nil {
		s.requests = make(chan func())
		go s.serveOnOneThread()
	}
	result := make(chan error)
	s.requests <- func() { result <- cmd.Start() }
	err := <-result
	if err == nil {
		s.running.Add(1)
	}
	return err
}

// serveOnOneThread never unlocks its thread, so that the thread ends with it.
func (s *Starter) serveOnOneThread() {
	runtime.LockOSThread()
	if s.Bounded {
		_ = boundThread() // a worker does what this could not
	}
	for f := range s.requests {
		f()
	}
}

// Ended says that one process is gone and has been waited for.
func (s *Starter) Ended() { s.running.Done() }

// Close refuses further starts and lets the thread end when all processes have. It does
// not wait for that.
func (s *Starter) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	if s.requests == nil {
		return
	}
	go func() {
		s.running.Wait()
		close(s.requests)
	}()
}
