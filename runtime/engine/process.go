package engine

import (
	"errors"
	"os"
	"os/exec"
	"slices"
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

// startProcess starts a worker that has one end of a socketpair and nothing else.
func startProcess(s *sandbox.Starter, profile sandbox.Worker, argv []string) (*process, error) {
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
	if err := s.Start(p.cmd); err != nil {
		host.close()
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in ProcessState
		close(p.exited)
		s.Ended()
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
// says why it ends.
type capped struct {
	mu   sync.Mutex
	head []byte
}

func (c *capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	room := 4096 - len(c.head)
	c.head = append(c.head, p[:max(0, min(len(p), room))]...)
	return len(p), nil
}

func (c *capped) text() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.head)
}
