// Package runner runs programs behind the command sandbox, with what was decided for them
// and nothing else: it makes the mounts, the environment and the home that they find.
package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	if !r.Confined() && l.Bounds != nil {
		return runtime.Ended{Tier: "none"}, fault.New(fault.PermissionDenied, "capability_ceiling",
			"without a sandbox a command sees all files, and a capability that it runs for declared less than the project").
			WithHint("do not work around this; air doctor --sandbox says why there is none")
	}
	if !r.Confined() {
		return r.launchBare(ctx, l)
	}
	return r.launch(ctx, l, nil)
}

// launch runs a program behind the sandbox: that of the launch, or apart, which is one of its
// command line.
func (r *Runner) launch(ctx context.Context, l runtime.Launch, apart []string) (runtime.Ended, error) {
	if err := r.recover(); err != nil {
		return runtime.Ended{}, err
	}
	c, v, err := r.command(ctx, &l, apart)
	if err != nil {
		return runtime.Ended{}, err
	}
	defer v.done()
	direct := apart == nil && l.Text != "" && !l.Bash && !c.Talk // the text is one plain program
	if err := r.allowDirect(ctx, direct, l); err != nil {
		return runtime.Ended{Code: exitRefused, Tier: "sandbox"}, err
	}
	if err := r.begin(v, l.ID); err != nil {
		return runtime.Ended{Tier: "sandbox"}, err
	}
	p, err := r.start(ctx, &c, direct)
	if err != nil {
		return runtime.Ended{Tier: "sandbox"}, err
	}
	if l.Started != nil {
		l.Started(p.PID())
	}
	forget, err := r.note(l.ID, p.PID())
	defer forget()
	if err != nil {
		p.Kill()
	}
	stopProxy := r.serveProxy(ctx, p.Listener(), &l)
	defer stopProxy()
	stopTalk := r.talk(ctx, p.Conn(), l)
	exit, waitErr := p.Wait()
	err = errors.Join(err, waitErr)
	e := ended(p, exit)
	v.succeeded = e.Code == 0
	noteRefused(l, &e, stopProxy())
	return e, errors.Join(uncovered(exit), stopTalk(), err, r.settle(v))
}

// talk answers an interpreter, where conn leads to one, until stop is called, which returns
// what was refused.
func (r *Runner) talk(ctx context.Context, conn net.Conn, l runtime.Launch) (stop func() error) {
	if conn == nil {
		return func() error { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	refused := make(chan error, 1)
	go func() { refused <- r.host(l).Serve(ctx, conn) }()
	return func() error {
		cancel()
		return <-refused
	}
}

func (r *Runner) host(l runtime.Launch) interpret.Host {
	return interpret.Host{
		Text:   l.Text,
		Place:  command.Place{Dir: l.Dir, Root: r.config.Root, Home: r.home(), Env: l.Env, Private: r.Private(), Confined: r.Confined()},
		Decide: l.Decide,
		Apart:  r.apart(l),
	}
}

// apart runs the programs of a command line that change a repository, each in a sandbox of its
// own in which it is open.
func (r *Runner) apart(l runtime.Launch) func(context.Context, interpret.Apart) (int, error) {
	count := atomic.Int64{}
	return func(ctx context.Context, a interpret.Apart) (int, error) {
		own := l
		own.ID = fmt.Sprintf("%s-%d", l.ID, count.Add(1))
		own.Dir, own.Env = a.Dir, withChanges(l.Env, a)
		own.Effects = slices.Concat(l.Effects, a.Effects)
		own.Stdin, own.Stdout, own.Stderr = a.Stdin, a.Stdout, a.Stderr
		own.Started, own.Repository = nil, true
		ended, err := r.launch(ctx, own, a.Argv)
		return ended.Code, err
	}
}

// withChanges is an environment as a program finds it changed. One that is gone is empty.
func withChanges(env map[string]string, a interpret.Apart) map[string]string {
	changed := maps.Clone(env)
	if changed == nil {
		changed = map[string]string{}
	}
	for _, name := range a.Unset {
		changed[name] = ""
	}
	for _, pair := range a.Assign {
		name, value, _ := strings.Cut(pair, "=")
		changed[name] = value
	}
	return changed
}

// command is what runs for a launch. Of a command line, a repository is open to one plain
// program alone, never to several.
func (r *Runner) command(ctx context.Context, l *runtime.Launch, apart []string) (c sandbox.Command, v *view, err error) {
	c = sandbox.Command{Dir: l.Dir, Stdin: l.Stdin, Stdout: l.Stdout, Stderr: l.Stderr, Env: append(r.environment(*l), r.proxyEnv(*l)...), Loopback: usesHosts(*l)}
	switch {
	case apart != nil:
		c.Argv = apart
	case l.Text != "" && l.Bash:
		c.Argv = []string{"bash", "-c", l.Text}
	case l.Text != "":
		argv, simple := interpret.Simple(l.Text)
		if c.Argv = argv; !simple {
			c.Self, c.Talk = []string{interpret.Name}, true
		} else {
			l.Repository = interpret.IsApart(l.Effects)
		}
	default:
		c.Argv, c.KeepRoot = l.Argv, true
	}
	alone := l.Text != "" && l.Repository && !l.Bash && !c.Talk // a git command, and nothing else
	if alone {
		c.Env = slices.DeleteFunc(c.Env, func(pair string) bool { return strings.HasPrefix(pair, "PATH=") })
		c.Env = append(c.Env, "PATH="+r.look().pathWithout(r.config.Root, r.config.State))
	}
	if v, err = r.mounts(ctx, *l); err == nil {
		c.Mounts = v.mounts
		v.decided.git = alone && bringsFiles(c.Argv)
	}
	return c, v, err
}

// bringsFiles reports whether a git command puts files of commits into the working tree.
func bringsFiles(argv []string) bool {
	return slices.ContainsFunc(argv, func(word string) bool {
		return slices.Contains([]string{
			"switch", "checkout", "restore", "merge", "pull", "rebase", "reset", "cherry-pick", "revert", "stash", "worktree", "submodule",
		}, word)
	})
}

// exitRefused is what a command line ends with that was not allowed to the end, as the
// interpreter does.
const exitRefused = 126

// allowDirect decides once more about a command line that runs without the interpreter.
func (r *Runner) allowDirect(ctx context.Context, direct bool, l runtime.Launch) error {
	if !direct || l.Decide == nil {
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
func (r *Runner) start(ctx context.Context, c *sandbox.Command, direct bool) (*sandbox.Process, error) {
	p, err := c.Start(ctx)
	var program *exec.Error
	if direct && errors.As(err, &program) {
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
