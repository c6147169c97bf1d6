// Package runner runs programs behind the command sandbox, with what was decided for them
// and nothing else: it makes the mounts, the environment and the home that they find.
package runner

import (
	"context"
	"errors"
	"os/exec"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/command"
	"github.com/aircoding/air/runtime/command/interpret"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/sandbox"
)

// Config says for whom programs run.
type Config struct {
	Paths *permission.Paths
	Root  string // the project's folder, canonical; "" where there is none
	Home  string // of the person; "" where there is none
	// State is air's folder for this project: the home of its commands, the layers over
	// caches, and which commands run.
	State   string
	Session string              // its id
	Getenv  func(string) string // the person's environment
}

// Runner runs programs.
type Runner struct{ config Config }

// New returns a runner.
func New(c Config) *Runner { return &Runner{config: c} }

var _ runtime.Launcher = (*Runner)(nil)

// Launch implements runtime.Launcher.
func (r *Runner) Launch(ctx context.Context, l runtime.Launch) (runtime.Ended, error) {
	c, done, err := r.command(ctx, l)
	if err != nil {
		return runtime.Ended{}, err
	}
	defer done()
	p, err := c.Start(ctx)
	if err != nil {
		return runtime.Ended{Tier: "sandbox"}, startFault(err)
	}
	stopProxy := r.serveProxy(ctx, p.Listener(), l)
	defer stopProxy()
	refused := make(chan error, 1)
	if c.Talk {
		go func() { refused <- r.host(l).Serve(ctx, p.Conn()) }()
	} else {
		refused <- nil
	}
	exit, err := p.Wait()
	return ended(p, exit), errors.Join(<-refused, err)
}

func (r *Runner) host(l runtime.Launch) interpret.Host {
	return interpret.Host{
		Text:   l.Text,
		Place:  command.Place{Dir: l.Dir, Root: r.config.Root, Home: r.home(), Env: nil},
		Decide: l.Decide,
	}
}

func (r *Runner) command(ctx context.Context, l runtime.Launch) (c sandbox.Command, done func(), err error) {
	c = sandbox.Command{Dir: l.Dir, Stdin: l.Stdin, Stdout: l.Stdout, Stderr: l.Stderr, Env: r.environment(l), Loopback: usesHosts(l)}
	switch {
	case l.Text != "" && l.Bash:
		c.Argv = []string{"bash", "-c", l.Text}
	case l.Text != "":
		c.Self, c.Talk = []string{interpret.Name}, true
	default:
		c.Argv = l.Argv
	}
	c.Mounts, done, err = r.mounts(ctx, l)
	return c, done, err
}

func startFault(err error) error {
	var program *exec.Error
	var unavailable *sandbox.UnavailableError
	switch {
	case errors.As(err, &program) && errors.Is(err, exec.ErrNotFound):
		return fault.New(fault.DependencyMissing, "program_missing", "the program %q is not installed here", program.Name)
	case errors.As(err, &unavailable):
		return fault.New(fault.Unavailable, "no_sandbox", "%w", err).WithHint("air doctor --sandbox says more")
	}
	return err
}

func ended(p *sandbox.Process, exit sandbox.Exit) runtime.Ended {
	e := runtime.Ended{Code: exit.Code, Signal: exit.Signal, Killed: exit.Killed, OutOfMemory: exit.OutOfMemory, CPU: exit.CPU, Tier: "sandbox", Held: map[string]string{}}
	for _, h := range p.Confinement().Limits {
		e.Held[h.Name] = h.How
	}
	return e
}
