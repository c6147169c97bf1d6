package runner

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	goruntime "runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/command/interpret"
)

const (
	// barePatience is how long the keeper of a command without a sandbox may take to end it.
	barePatience = 10 * time.Second
	tierNone     = "none"
)

// launchBare runs a command without a sandbox, where this machine has none and whoever
// decided knew. What is left is that all of it ends: a process of air's own, the keeper, is
// above it, adopts what loses its parent, and ends with air.
func (r *Runner) launchBare(ctx context.Context, l runtime.Launch) (runtime.Ended, error) {
	ended := runtime.Ended{Tier: tierNone, Held: map[string]string{"sandbox": "nothing: this machine does not let air build one"}}
	if !r.mayBare() {
		return ended, fault.New(fault.Unavailable, "no_sandbox", "this machine does not let air build a sandbox for commands").
			WithHint("air doctor --sandbox says why")
	}
	b, err := r.startBare(ctx, l)
	if err != nil {
		return ended, err
	}
	if l.Started != nil {
		l.Started(b.cmd.Process.Pid)
	}
	forget, err := r.note(l.ID, b.cmd.Process.Pid)
	if err != nil {
		err = errors.Join(err, b.cmd.Cancel())
	}
	defer forget()
	stopTalk := r.talk(ctx, b.talk, l)
	report, waitErr := b.wait(ctx)
	err = errors.Join(err, waitErr)
	ended.Code, ended.Signal, ended.Killed, ended.CPU = report.Code, report.Signal, report.Killed, report.CPU
	return ended, errors.Join(stopTalk(), err)
}

// bare is a command that runs without a sandbox.
type bare struct {
	cmd    *exec.Cmd
	exited <-chan error
	report *os.File
	talk   net.Conn
	stop   error // why the context ended, if it did
}

// bareConfig is what the keeper is told, and bareReport what it says in the end.
type bareConfig struct {
	Argv, Env []string
	Dir       string
	Talk      bool
	Self      bool // Argv are arguments of this program itself
	Limits    [][2]uint64
}

type bareReport struct {
	Code, Signal int
	Killed       bool
	CPU          time.Duration
	Missing      string // a program that could not be started, and why
	Why          string
}

func (r *Runner) bareConfig(l runtime.Launch) bareConfig {
	c := bareConfig{Argv: l.Argv, Env: r.bareEnvironment(l), Dir: l.Dir, Limits: [][2]uint64{
		{unix.RLIMIT_DATA, 8 << 30}, {unix.RLIMIT_CPU, 3600}, {unix.RLIMIT_FSIZE, 8 << 30}, {unix.RLIMIT_NOFILE, 4096}, {unix.RLIMIT_CORE, 0},
	}}
	switch {
	case l.Text != "" && l.Bash:
		c.Argv = []string{"bash", "-c", l.Text}
	case l.Text != "":
		c.Argv, c.Talk, c.Self = []string{interpret.Name}, true, true
	}
	return c
}

func (r *Runner) startBare(ctx context.Context, l runtime.Launch) (*bare, error) {
	config := r.bareConfig(l)
	told, tell, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer told.Close()
	defer tell.Close()
	report, says, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer says.Close()
	b := &bare{report: report}
	files := []*os.File{told, says}
	if config.Talk {
		inside, err := b.connect()
		if err != nil {
			report.Close()
			return nil, err
		}
		defer inside.Close()
		files = append(files, inside)
	}
	b.cmd = keeperCommand(ctx, l, files)
	b.cmd.Cancel = func() error {
		b.stop = ctx.Err()
		return b.cmd.Process.Signal(unix.SIGTERM)
	}
	if b.exited, err = startKeeper(b.cmd); err != nil {
		b.close()
		return nil, fmt.Errorf("starting what keeps a command: %w", err)
	}
	_ = told.Close()                        // so that nobody waits for one that is gone
	_ = gob.NewEncoder(tell).Encode(config) // one that is gone reports nothing
	return b, nil
}

func keeperCommand(ctx context.Context, l runtime.Launch, files []*os.File) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = []string{keeperName}
	cmd.Dir = "/"
	cmd.Env = []string{"GOMAXPROCS=1", "GOTRACEBACK=none"}
	cmd.ExtraFiles = files
	cmd.WaitDelay = barePatience
	// Through pipes whatever they are: a terminal would let the program read what a person types.
	if l.Stdin != nil {
		cmd.Stdin = struct{ io.Reader }{l.Stdin}
	}
	cmd.Stdout, cmd.Stderr = l.Stdout, l.Stderr
	if _, ok := l.Stdout.(*os.File); ok {
		cmd.Stdout = struct{ io.Writer }{l.Stdout}
	}
	if _, ok := l.Stderr.(*os.File); ok {
		cmd.Stderr = struct{ io.Writer }{l.Stderr}
	}
	// The keeper is asked to end when air is gone, and ends all that it keeps.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGTERM}
	return cmd
}

// startKeeper starts it from a thread that stays: the signal that says that air is gone comes
// when the thread that started a process ends.
func startKeeper(cmd *exec.Cmd) (<-chan error, error) {
	started, exited := make(chan error), make(chan error, 1)
	go func() {
		goruntime.LockOSThread() // not unlocked: the thread ends
		err := cmd.Start()
		started <- err
		if err == nil {
			exited <- cmd.Wait()
		}
	}()
	return exited, <-started
}

// connect makes the connection of the interpreter, and returns its end.
func (b *bare) connect() (*os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fds[0]), "shell")
	defer f.Close()
	inside := os.NewFile(uintptr(fds[1]), "host")
	if b.talk, err = net.FileConn(f); err != nil {
		inside.Close()
	}
	return inside, err
}

func (b *bare) wait(ctx context.Context) (report bareReport, err error) {
	defer b.close()
	err = <-b.exited
	said := gob.NewDecoder(b.report).Decode(&report)
	switch {
	case b.stop != nil:
		report.Killed = true
		return report, b.stop
	case said != nil:
		return bareReport{Code: 128 + int(unix.SIGKILL), Signal: int(unix.SIGKILL), Killed: true}, ctx.Err()
	case report.Missing != "":
		return report, startFault(&exec.Error{Name: report.Missing, Err: missing(report.Why)})
	case errors.Is(err, exec.ErrWaitDelay):
		return report, err
	}
	return report, nil
}

func missing(why string) error {
	if why == exec.ErrNotFound.Error() {
		return exec.ErrNotFound
	}
	return errors.New(why)
}

func (b *bare) close() {
	b.report.Close()
	if b.talk != nil {
		_ = b.talk.Close()
	}
}
