// Package runner runs programs behind the command sandbox, with what was decided for them
// and nothing else: it makes the mounts, the environment and the home that they find.
package runner

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/command"
	"github.com/aircoding/air/runtime/command/interpret"
	"github.com/aircoding/air/runtime/network"
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
	// Bare lets commands run without a sandbox where this machine lets air build none:
	// whoever decides about them knows that by Confined, and the program calls ServeIfKeeper.
	Bare   bool
	Dialer network.Dialer // to the hosts that were decided
}

// Runner runs programs.
type Runner struct {
	config Config

	probing  sync.Mutex
	confined *bool // whether there is a sandbox, once that is known
	lost     bool  // whether that turned out wrong

	looking sync.Mutex
	looked  time.Time
	found   found // of the person's, then
}

// New returns a runner.
func New(c Config) *Runner { return &Runner{config: c} }

var _ runtime.Launcher = (*Runner)(nil)

// Launch implements runtime.Launcher.
func (r *Runner) Launch(ctx context.Context, l runtime.Launch) (runtime.Ended, error) {
	if !r.Confined() {
		return r.launchBare(ctx, l)
	}
	c, v, err := r.command(ctx, l)
	if err != nil {
		return runtime.Ended{}, err
	}
	defer v.done()
	if err := r.allowDirect(ctx, c, l); err != nil {
		return runtime.Ended{Code: exitRefused, Tier: "sandbox"}, err
	}
	p, err := r.start(ctx, &c, l)
	if err != nil {
		return runtime.Ended{Tier: "sandbox"}, err
	}
	forget, err := r.note(l.ID, p.PID())
	defer forget()
	if err != nil {
		p.Kill()
	}
	stopProxy := r.serveProxy(ctx, p.Listener(), &l)
	defer stopProxy()
	refused := make(chan error, 1)
	if c.Talk {
		go func() { refused <- r.host(l).Serve(ctx, p.Conn()) }()
	} else {
		refused <- nil
	}
	exit, waitErr := p.Wait()
	err = errors.Join(err, waitErr)
	e := ended(p, exit)
	noteRefused(l, &e, stopProxy())
	return e, errors.Join(uncovered(exit), <-refused, err, v.settle(l.ID))
}

func (r *Runner) host(l runtime.Launch) interpret.Host {
	return interpret.Host{
		Text:   l.Text,
		Place:  command.Place{Dir: l.Dir, Root: r.config.Root, Home: r.home(), Env: l.Env},
		Decide: l.Decide,
	}
}

func (r *Runner) command(ctx context.Context, l runtime.Launch) (c sandbox.Command, v *view, err error) {
	simple := false
	c = sandbox.Command{Dir: l.Dir, Stdin: l.Stdin, Stdout: l.Stdout, Stderr: l.Stderr, Env: append(r.environment(l), r.proxyEnv(l)...), Loopback: usesHosts(l)}
	switch {
	case l.Text != "" && l.Bash:
		c.Argv = []string{"bash", "-c", l.Text}
	case l.Text != "":
		if c.Argv, simple = interpret.Simple(l.Text); !simple {
			c.Self, c.Talk = []string{interpret.Name}, true
		}
	default:
		c.Argv = l.Argv
	}
	if v, err = r.mounts(ctx, l); err == nil {
		c.Mounts = v.mounts
	}
	return c, v, err
}

// exitRefused is what a command line ends with that was not allowed to the end, as the
// interpreter does.
const exitRefused = 126

// isDirect reports whether a command line runs without the interpreter, for it is one plain
// program.
func isDirect(c sandbox.Command, l runtime.Launch) bool { return l.Text != "" && !l.Bash && !c.Talk }

// allowDirect decides once more about a command line that runs without the interpreter.
func (r *Runner) allowDirect(ctx context.Context, c sandbox.Command, l runtime.Launch) error {
	if !isDirect(c, l) || l.Decide == nil {
		return nil
	}
	effects, err := command.Analyse(l.Text, r.host(l).Place)
	if err == nil {
		err = l.Decide(ctx, effects)
	}
	if err != nil && l.Stderr != nil {
		fmt.Fprintf(l.Stderr, "air: %v\n", err)
	}
	return err
}

// start starts a command. What the system does not execute by itself is left to the
// interpreter: it runs a script without a first line that says by what, and says in the
// words of a shell what is missing.
func (r *Runner) start(ctx context.Context, c *sandbox.Command, l runtime.Launch) (*sandbox.Process, error) {
	p, err := c.Start(ctx)
	var program *exec.Error
	if isDirect(*c, l) && errors.As(err, &program) {
		c.Argv, c.Self, c.Talk = nil, []string{interpret.Name}, true
		p, err = c.Start(ctx)
	}
	var unavailable *sandbox.UnavailableError
	if errors.As(err, &unavailable) {
		r.unconfined()
	}
	return p, startFault(err)
}

func startFault(err error) error {
	var program *exec.Error
	var unavailable *sandbox.UnavailableError
	var mount *sandbox.MountError
	switch {
	case errors.As(err, &program) && errors.Is(err, exec.ErrNotFound):
		return fault.New(fault.DependencyMissing, "program_missing", "the program %q is not installed here", program.Name)
	case errors.As(err, &unavailable):
		return fault.New(fault.Unavailable, "no_sandbox", "%w", err).WithHint("air doctor --sandbox says more")
	case errors.As(err, &mount):
		return fault.New(fault.Conflict, "changed_meanwhile", "%w", err).WithHint("if the files of the project changed just now, try again")
	}
	return err
}

// uncovered is what came of a mount that was lost while the program ran.
func uncovered(exit sandbox.Exit) error {
	if exit.Uncovered == "" {
		return nil
	}
	return fault.New(fault.Conflict, "uncovered",
		"%s was replaced, renamed or removed while the command ran, by something outside of it, and lost its protection with that: the command was ended", exit.Uncovered).
		WithHint("what lies there may have been read or written by the command: look at it, and run the command again")
}

func ended(p *sandbox.Process, exit sandbox.Exit) runtime.Ended {
	e := runtime.Ended{Code: exit.Code, Signal: exit.Signal, Killed: exit.Killed, OutOfMemory: exit.OutOfMemory, CPU: exit.CPU, Tier: "sandbox", Held: map[string]string{}}
	for _, h := range p.Confinement().Limits {
		e.Held[h.Name] = h.How
	}
	return e
}
