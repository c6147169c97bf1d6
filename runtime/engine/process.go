package engine

import (
	"context"
	"errors"
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
	exited chan struct{} // closed when the process is gone; how it ended is in cmd.ProcessState

	mu     sync.Mutex
	reason error // why it was killed; nil while it was not
}

// startProcess starts a worker that has one end of a socketpair and nothing else.
func startProcess(argv []string) (*process, error) {
	host, worker, err := socketpair()
	if err != nil {
		return nil, err
	}
	defer worker.Close()
	p := &process{socket: host, exited: make(chan struct{})}
	p.cmd = sandbox.WorkerCommand(context.Background(), argv, worker, &p.stderr)
	ended, err := sandbox.Start(p.cmd)
	if err != nil {
		host.close()
		return nil, err
	}
	go func() {
		for range ended {
		}
		close(p.exited)
	}()
	return p, nil
}

// Reasons to kill a process, besides that the context of its call ended.
var (
	errRetired = errors.New("worker retired")
	errCompile = errors.New("compile deadline")
	errBreach  = errors.New("worker broke the protocol")
)

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
