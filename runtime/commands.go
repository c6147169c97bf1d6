package runtime

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

// Launcher runs programs apart from air.
type Launcher interface {
	// Launch runs a program and waits until it has ended, and with it all that it started.
	// That a program fails is no error. When ctx ends, all of it is killed and the error is
	// the context's.
	Launch(ctx context.Context, l Launch) (Ended, error)
}

// Launch is one program to run, or one command line, and all that it may have.
type Launch struct {
	ID string // of this run of a command
	// Text is a command line in the language of bash. Each program in it is decided again
	// by Decide, with the words that it has then. Bash has bash itself run it, without that.
	Text string
	Bash bool
	// Argv is a program with its arguments, where Text is "".
	Argv           []string
	Dir            string            // canonical
	Env            map[string]string // what the call adds to the environment
	Stdin          io.Reader         // nil: nothing
	Stdout, Stderr io.Writer         // nil: discarded
	// Effects are all that was decided for it, and allowed. Only for a command line is the
	// project writable without an effect that says so.
	Effects []permission.Effect
	// Repository lets the program write to the folder .git of the project, but for its hooks
	// and configuration.
	Repository bool
	// Whole is for a program of a built-in tool that has to do with all files of the project,
	// shows nothing of what is in them, and changes only what was decided one by one, or what
	// is in the repository: what may not be read is not hidden from it, and what it makes
	// there is not withheld.
	Whole bool
	// Bounds are the files that the calling capabilities declared, where one of them has not
	// the whole project: nothing else of it is seen. Nil: all of it may be.
	Bounds *permission.Bounds
	// Denied tells whether a rule denies an effect on a canonical path, whatever else was
	// decided; nil: none denies any. It may be called by several goroutines at once.
	Denied func(kind permission.Kind, path string) bool
	// Decide answers for effects that turn up while Text runs; nil means that they may be.
	// Calls come one at a time. It returns when its context ends, at the latest when all of
	// the program has: nobody waits for its answer then.
	Decide func(ctx context.Context, effects []permission.Effect) error
	// Permits tells whether a path that is guarded from programs may be read, or written, by
	// them all the same; nil: none may. It is called before the program runs and after.
	Permits func(effect permission.Effect) bool
	// Started is told the number, on this machine, of the process that all of the program
	// descend from; nil: nobody is.
	Started func(pid int)
}

// Ended says how a program ended.
type Ended struct {
	ID          string
	Code        int // 0 to 255; 128 + Signal when a signal ended it
	Signal      int // 0 for none
	Killed      bool
	OutOfMemory bool
	Duration    time.Duration
	CPU         time.Duration
	// Tier is "sandbox", or "none" where the program ran without one.
	Tier string
	// Held says in words what held the program's limits and files, for events; nil where
	// it never ran.
	Held map[string]string
}

// Ran reports whether there was a program that ran: only then has it an exit code.
func (e Ended) Ran() bool { return e.Held != nil }

// Commands runs programs within what was decided for one call.
type Commands struct {
	registry  *Registry
	run       *run
	decisions []permission.Decision
}

// Shell is a command line whose effects were decided.
type Shell struct {
	Text           string
	Dir            string // as the input names it; reading it was decided
	Env            map[string]string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Timeout ends it with all that it started, as an error of kind timeout; 0 is none
	// beside the call's own. It stands while a person is being asked.
	Timeout time.Duration
}

// Program is one program that a built-in tool runs for itself, with arguments that it
// made. What it may read and write are the decided paths.
type Program struct {
	Argv           []string
	Dir            string // as the input names it; reading it was decided. "" for one that needs no folder
	Env            map[string]string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Repository     bool   // see Launch
	Whole          bool   // see Launch
	Package        string // the Debian package that brings the program, for who lacks it
}

// Shell runs a command line. Where a person or a rule allowed it as a whole though it could
// not be known, bash runs it; otherwise each program in it is decided again with the words
// that it really has, and one that may not run ends the whole with an error of kind
// permission_denied.
func (c Commands) Shell(ctx context.Context, s Shell) (Ended, error) {
	l := Launch{Text: s.Text, Env: s.Env, Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Stderr, Decide: c.deciding()}
	whole := permission.Effect{Kind: permission.Run, Target: permission.JoinArgv([]string{"bash", "-c", s.Text})}
	l.Bash = c.registry.permits(c.run, c.decisions, whole) == nil
	l.Permits, l.Bounds = c.permitsGuarded, c.registry.config.Paths.BoundsOf(c.run.chain)
	return c.launch(ctx, l, s.Dir, shownCommand(s.Text), s.Timeout)
}

// Program runs a program.
func (c Commands) Program(ctx context.Context, p Program) (Ended, error) {
	l := Launch{Argv: p.Argv, Env: p.Env, Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Repository: p.Repository, Whole: p.Whole}
	ended, err := c.launch(ctx, l, p.Dir, shownCommand(permission.JoinArgv(p.Argv)), 0)
	var e *fault.Error
	if errors.As(err, &e) && e.Kind == fault.DependencyMissing && p.Package != "" {
		err = e.WithHint("as root: apt-get install %s", p.Package)
	}
	return ended, err
}

func (c Commands) launch(ctx context.Context, l Launch, dir, shown string, timeout time.Duration) (Ended, error) {
	if c.registry.config.Launcher == nil {
		return Ended{}, fault.New(fault.Unavailable, "no_launcher", "nothing here runs programs")
	}
	folder, err := c.folder(l, dir)
	if err != nil {
		return Ended{}, err
	}
	l.ID, l.Dir, l.Denied = ids.New(), folder, c.registry.config.Permission.Denies(c.run.chain)
	for _, d := range c.decisions {
		if d.Verdict == permission.Allow {
			l.Effects = append(l.Effects, d.Effect)
		}
	}
	before, err := c.keepBefore(ctx, &l)
	if err != nil {
		return Ended{}, err
	}
	if err := c.registry.append(ctx, c.run, event.CommandStarted, map[string]any{"command_run_id": l.ID, "command": shown, "dir": l.Dir}); err != nil {
		return Ended{}, err
	}
	watched := c.show(l.ID)
	l.Started = watched.began
	l.Stdout = watched.stream(event.CommandStdout, l.Stdout)
	l.Stderr = watched.stream(event.CommandStderr, l.Stderr)
	started := time.Now()
	ended, err := c.within(ctx, l, timeout)
	watched.stop()
	ended.ID, ended.Duration = l.ID, time.Since(started)
	before.keepAfter(ctx)
	return ended, errors.Join(err, c.recordEnd(ctx, ended, err))
}

// within runs the program under a clock of its own.
func (c Commands) within(ctx context.Context, l Launch, timeout time.Duration) (Ended, error) {
	if timeout <= 0 {
		ended, err := c.registry.config.Launcher.Launch(ctx, l)
		return ended, endOf(ctx, err)
	}
	limited, clock := withClock(ctx, timeout)
	defer clock.stop()
	ended, err := c.registry.config.Launcher.Launch(limited, l)
	err = endOf(limited, err)
	if errors.Is(err, errDeadline) && ctx.Err() == nil {
		err = timedOut(timeout, err)
	}
	return ended, err
}

// timedOut is the error of a command that had no more time, and of what it made that is
// withheld.
func timedOut(timeout time.Duration, err error) error {
	failure := fault.New(fault.Timeout, "command_timeout", "the command was ended after %v, with all that it started", timeout).
		WithHint("have it do less at once, or give it more time")
	var withheld *fault.Error
	if !errors.As(err, &withheld) {
		return failure
	}
	failure.Details = withheld.Details
	return errors.Join(failure, withheld)
}

// endOf is why a command ended before its time. What its end led to, such as a conversation
// that broke off, is none of it; that something may not be, is: where it was ended, behind
// that.
func endOf(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	var refused *fault.Error
	denied := errors.As(err, &refused) && (refused.Kind == fault.PermissionDenied || refused.Kind == fault.ApprovalRequired)
	switch {
	case !denied:
		return context.Cause(ctx)
	case errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)):
		return errors.Join(context.Cause(ctx), refused)
	}
	return err
}

// folder is where a command starts, canonical. That it may be read was decided.
func (c Commands) folder(l Launch, dir string) (string, error) {
	if dir == "" && l.Text == "" {
		return "/", nil
	}
	f := &files{registry: c.registry, run: c.run, decisions: c.decisions}
	e, err := f.decided(permission.Read, dir)
	return e.Target, err
}

func (c Commands) recordEnd(ctx context.Context, ended Ended, err error) error {
	eventType := event.CommandCompleted
	payload := map[string]any{
		"command_run_id": ended.ID, "exit_code": ended.Code, "duration_ms": ended.Duration.Milliseconds(),
		"cpu_ms": ended.CPU.Milliseconds(), "tier": ended.Tier, "held": ended.Held,
	}
	if ended.Signal != 0 {
		payload["signal"] = ended.Signal
	}
	if ended.OutOfMemory {
		payload["out_of_memory"] = true
	}
	if err != nil {
		failure := fault.From(c.run.clock.explain(ctx, err))
		eventType, payload["error"] = event.CommandFailed, storedError(failure)
		if failure.Kind == fault.Cancelled {
			eventType = event.CommandCancelled
		}
	}
	return c.registry.append(context.WithoutCancel(ctx), c.run, eventType, payload)
}

// decide answers for effects that turn up while a command runs. What was decided before
// holds; what was not is decided now, and a person may be asked while the command waits.
func (c Commands) decide(ctx context.Context, effects []permission.Effect) error {
	_, err := c.late(ctx, effects)
	return err
}

// deciding is decide for one command, to which a host that it was allowed stays allowed. Its
// calls come one at a time.
func (c Commands) deciding() func(ctx context.Context, effects []permission.Effect) error {
	return func(ctx context.Context, effects []permission.Effect) error {
		late, err := c.late(ctx, effects)
		for _, d := range late {
			if d.Effect.Kind == permission.Net {
				c.decisions = append(c.decisions[:len(c.decisions):len(c.decisions)], d)
			}
		}
		return err
	}
}

// late returns the decisions about what was not decided before, all of which allow.
func (c Commands) late(ctx context.Context, effects []permission.Effect) ([]permission.Decision, error) {
	r := c.registry
	resolved, err := r.canonical(c.run, effects)
	var denied *permission.DeniedError
	if errors.As(err, &denied) {
		return nil, c.run.denial(err)
	}
	if err != nil {
		return nil, err
	}
	var fresh []permission.Effect
	for _, e := range resolved {
		if !c.decided(e) {
			fresh = append(fresh, e)
		}
	}
	if len(fresh) == 0 {
		return nil, nil
	}
	request, err := r.request(ctx, c.run, fresh)
	if err != nil {
		return nil, err
	}
	request.Late = true
	decisions := c.run.root().approvals.apply(request, r.config.Permission.Decide(request))
	decisions, err = r.ask(ctx, c.run, request, decisions)
	if recordErr := r.appendDecisions(context.WithoutCancel(ctx), c.run, event.PermissionDecided, "decisions", decisions); recordErr != nil {
		return nil, recordErr
	}
	if err != nil {
		return nil, c.run.denial(err)
	}
	return decisions, r.noteCredentials(ctx, c.run, decisions)
}

// decided reports whether exactly this effect was allowed before the command ran.
func (c Commands) decided(e permission.Effect) bool {
	for _, d := range c.decisions {
		if d.Verdict == permission.Allow && d.Effect.Kind == e.Kind && d.Effect.Target == e.Target &&
			(!e.Recursive || d.Effect.Recursive) && (!d.Effect.Below || e.Below) && d.Effect.ScriptSHA256 == e.ScriptSHA256 && sameClass(d.Effect, e) {
			return true
		}
	}
	return false
}

// sameClass reports whether what was decided is as much as what it turned out to be: a link,
// or a repository, may have come to be there meanwhile.
func sameClass(decided, e permission.Effect) bool {
	return e.Class == "" || e.Class == permission.ClassProject || e.Class == decided.Class || e.Led && decided.Led
}
