package doctor

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// maxAnswer bounds what a program may say, in bytes.
const maxAnswer = 64 << 10

// ask runs a program and returns what it says on both streams. It sees no standard input,
// no terminal, no folder of the project and only this environment. It ends in time, and
// with it what it started.
func ask(ctx context.Context, env []string, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, maxProgram)
	defer cancel()
	said := &answer{}
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Env, c.Dir, c.Stdout, c.Stderr = env, "/", said, said
	ownGroup(c, syscall.SIGKILL, 200*time.Millisecond)
	err := c.Run()
	if errors.Is(err, exec.ErrWaitDelay) { // it ended, and something of its group holds on to its output
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // it may end just now
	}
	return said.String(), err
}

// ownGroup has a command away from air's terminal, and ends all of its group by the signal
// when the context ends. What holds its output open is waited for this long.
func ownGroup(c *exec.Cmd, end syscall.Signal, patience time.Duration) {
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, end) }
	c.WaitDelay = patience
}

var errTalkative = errors.New("it says too much")

// answer keeps what a program says, up to a limit at which the program is ended.
type answer struct{ strings.Builder }

func (a *answer) Write(p []byte) (int, error) {
	if a.Len()+len(p) > maxAnswer {
		return 0, errTalkative
	}
	return a.Builder.Write(p)
}

// firstLine is what an answer begins with.
func firstLine(said string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return line
}
