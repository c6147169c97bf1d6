package sandbox

import (
	"os/exec"
	"runtime"
)

// Start starts a command from a thread of its own, which then waits for it: the parent-death
// signal comes when the thread that started a process ends, and the thread of a goroutine may
// end at any time. The channel gives what cmd.Wait returned, once, and is closed, when the
// process is gone.
func Start(cmd *exec.Cmd) (ended <-chan error, err error) {
	started, done := make(chan error), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // not unlocked: the thread ends
		_ = boundThread()      // a worker does what this could not; a new user namespace has a full set again
		err := cmd.Start()
		started <- err
		if err == nil {
			done <- cmd.Wait()
		}
		close(done)
	}()
	return done, <-started
}
