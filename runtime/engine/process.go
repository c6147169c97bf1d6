package engine

import (
	"errors"
	"os"
	"os/exec"
	goruntime "runtime"
	"sync"
	"time"

	"github.com/aircoding/air/runtime/sandbox"
)

// workerName is the argv[0] that makes this program a worker.
const workerName = "air-worker"

// process is a worker as the operating system sees it.
type process struct {
	cmd    *exec.Cmd
	socket *socket
	stderr capped
	exited chan struct{} // closed when the process is gone

	mu     sync.Mutex
	reason error // why it was killed; nil while it was not
}

var (
	errRetired = errors.New("worker retired")
	errCompile = errors.New("compile deadline")
	errBreach  = errors.New("worker broke the protocol")
)

// starter starts processes from one thread that lives until the last of them is gone. A
// worker gets the parent-death signal when the thread that started it ends, and a
// goroutine's thread may end at any time.
type starter struct {
	requests chan func()
	once     sync.Once
	mu       sync.Mutex
	closed   bool
	running  sync.WaitGroup
}

var errClosed = errors.New("the pool is closed")

func newStarter() *starter { return &starter{requests: make(chan func())} }

func (s *starter) start(cmd *exec.Cmd) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.once.Do(func() {
		go func() {
			goruntime.LockOSThread() // and never unlocked: the thread ends with the goroutine
			for f := range s.requests {
				f()
			}
		}()
	})
	result := make(chan error)
	s.requests <- func() { result <- cmd.Start() }
	err := <-result
	if err == nil {
		s.running.Add(1)
	}
	return err
}

// close lets the thread end when all processes have.
func (s *starter) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	go func() {
		s.running.Wait()
		close(s.requests)
	}()
}

// startProcess starts a worker that has one end of a socketpair and nothing else.
func startProcess(s *starter, profile sandbox.Worker, argv []string) (*process, error) {
	path, err := sandbox.Executable()
	if err != nil {
		return nil, err
	}
	host, worker, err := socketpair()
	if err != nil {
		return nil, err
	}
	defer worker.Close()
	p := &process{socket: host, exited: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: path, Args: argv, Stderr: &p.stderr, ExtraFiles: []*os.File{worker}}
	profile.Prepare(p.cmd)
	if err := s.start(p.cmd); err != nil {
		host.close()
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in ProcessState
		close(p.exited)
		s.running.Done()
	}()
	return p, nil
}

// kill ends the process and wakes whoever waits for it. The first reason stays.
func (p *process) kill(reason error) {
	p.mu.Lock()
	if p.reason == nil {
		p.reason = reason
	}
	p.mu.Unlock()
	_ = p.cmd.Process.Kill() // by pidfd: never a process that reuses the id; one that is gone is fine
	p.socket.shutdown()
}

// killed is why the process was killed from here, or nil.
func (p *process) killed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reason
}

// release ends the process and frees what the host holds of it. The end itself is waited
// for in the background: tearing down a worker's memory takes milliseconds.
func (p *process) release(reason error) {
	p.kill(reason)
	p.socket.close()
}

// gone waits for the process to end by itself.
func (p *process) gone(patience time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(patience):
		return false
	}
}

// capped keeps the head of what a worker writes to stderr, which is where the Go runtime
// says why it ends. It is read only after the process is gone.
type capped struct{ head []byte }

func (c *capped) Write(p []byte) (int, error) {
	room := 4096 - len(c.head)
	c.head = append(c.head, p[:max(0, min(len(p), room))]...)
	return len(p), nil
}
