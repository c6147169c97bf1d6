package engine

import (
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket is one end of a socketpair, read and written with plain blocking calls: the
// netpoller doubles the time of a small exchange.
type socket struct {
	fd     int
	mu     sync.Mutex
	closed bool
	spins  bool // the next read spins first
}

// socketpair returns the host's end and the worker's, which is a file for os/exec.
func socketpair() (*socket, *os.File, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	return &socket{fd: fds[0]}, os.NewFile(uintptr(fds[1]), "worker socket"), nil
}

// spinTime is about what it costs to put a thread to sleep and wake it up.
const spinTime = 50 * time.Microsecond

// spin has the next Read look for spinTime before it sleeps.
func (s *socket) spin() { s.spins = true }

// tryRead reads without waiting, again and again for spinTime.
func (s *socket) tryRead(p []byte) (n int, ok bool) {
	for began := time.Now(); time.Since(began) < spinTime; {
		n, _, err := unix.Recvfrom(s.fd, p, unix.MSG_DONTWAIT)
		if err == nil && n > 0 {
			return n, true
		}
		if err != unix.EAGAIN && err != unix.EINTR {
			return 0, false // the end, or an error: the read that follows tells
		}
	}
	return 0, false
}

func (s *socket) Read(p []byte) (int, error) {
	if s.spins {
		s.spins = false
		if n, ok := s.tryRead(p); ok {
			return n, nil
		}
	}
	for {
		n, err := unix.Read(s.fd, p)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

func (s *socket) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := unix.Write(s.fd, p[done:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// shutdown wakes whoever reads or writes. A killed process lets go of its end only after
// its memory is gone, which can take milliseconds.
func (s *socket) shutdown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		_ = unix.Shutdown(s.fd, unix.SHUT_RDWR)
	}
}

// close must come after the last Read and Write.
func (s *socket) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		unix.Close(s.fd)
	}
}
