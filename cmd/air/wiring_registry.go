package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"sync"

	"github.com/aircoding/air/builtin/shell"
	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/counter"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/backup"
	hosts "github.com/aircoding/air/runtime/network"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/runner"
	"github.com/aircoding/air/runtime/secret"
	"github.com/aircoding/air/runtime/session"
)

// wiring is how a registry differs from that of a call. The zero value is that one.
type wiring struct {
	rules    func(*permission.Options)                      // changes what rules are loaded from
	approver func(*permission.Terminal) permission.Approver // stands in front of the terminal
	quiet    bool                                           // says nothing of files that nobody accepted
}

// registry is the one way to call tools. provider brings the tools that are not built
// in; misbehaved disables a capability, for a reason.
func (a *app) registry(ctx context.Context, at place, provider runtime.Provider, misbehaved func(context.Context, string, string)) (*runtime.Registry, error) {
	return a.registryWith(ctx, at, provider, misbehaved, wiring{})
}

func (a *app) registryWith(ctx context.Context, at place, provider runtime.Provider, misbehaved func(context.Context, string, string), w wiring) (*runtime.Registry, error) {
	s, err := a.session(ctx, at)
	if err != nil {
		return nil, err
	}
	if !w.quiet {
		if err := a.warnUnaccepted(at, s); err != nil {
			return nil, err
		}
	}
	paths, err := a.paths(at, filepath.Join(s.Dir, "artifacts"))
	if err != nil {
		return nil, err
	}
	programs := runner.New(runner.Config{
		Paths: paths, Root: at.project.Root, Home: personHome(), State: at.project.Dir, Session: s.ID, Getenv: a.getenv, Bare: true,
	})
	config, err := a.parts(at, s, paths, programs, w.rules)
	if err != nil {
		return nil, err
	}
	config.Provider, config.Misbehaved = provider, misbehaved
	tools, err := builtins(shell.Place{Root: at.project.Root, Home: personHome(), Private: programs.Private, Confined: programs.Confined}, config.Workspaces, config.Backups, s.ID)
	if err != nil {
		return nil, err
	}
	watching := a.watch(s.Events)
	if t := a.terminal(at, s); t != nil {
		approver := permission.Approver(t)
		if w.approver != nil {
			approver = w.approver(t)
		}
		alone := alone{watching, approver, t}
		config.Approver, config.Chooser = alone, alone
	}
	return runtime.New(config, tools...)
}

// parts are those of a registry that the place and its session bring.
func (a *app) parts(at place, s *session.Session, paths *permission.Paths, programs *runner.Runner, rules func(*permission.Options)) (runtime.Config, error) {
	engine, err := a.permissions(at, paths, func(o *permission.Options) {
		o.Unconfined = unconfined(programs)
		if rules != nil {
			rules(o)
		}
	})
	return runtime.Config{
		Session:    s,
		Permission: engine,
		Paths:      paths,
		Backups:    backups(at),
		Workspaces: runtime.WorkspacesIn(at.project.Dir, paths),
		Budgets:    budgets(at.config.Budgets),
		Launcher:   programs,
		Processes:  programs,
		Fetcher:    hosts.Fetcher{},
		Secret:     secret.Open(at.home.Path("secrets")).Value,
		Hosts:      hosts.Configured{Root: at.project.Root, Home: filepath.Join(at.project.Dir, "state", "home"), Trees: paths.Worktrees(), Getenv: a.getenv}.Hosts,
		Strikes:    runtime.StrikesIn(filepath.Join(at.project.Dir, "state", "quarantined")),
	}, err
}

// alone asks a person while nothing else is written to their terminal.
type alone struct {
	watching *watcher
	approver permission.Approver
	chooser  permission.Chooser
}

// Approve implements permission.Approver.
func (a alone) Approve(ctx context.Context, q permission.Question) (permission.Answer, error) {
	defer a.watching.pause()()
	return a.approver.Approve(ctx, q)
}

// Choose implements permission.Chooser.
func (a alone) Choose(ctx context.Context, q permission.AgentQuestion) (string, error) {
	defer a.watching.pause()()
	return a.chooser.Choose(ctx, q)
}

// backups are what undo works from.
func backups(at place) *backup.Store {
	return backup.Open(filepath.Join(at.project.Dir, "backups"), backup.Options{})
}

// enabled is the registry of the project's enabled capabilities.
func (a *app) enabled(ctx context.Context) (*runtime.Registry, error) {
	return a.enabledWith(ctx, wiring{})
}

func (a *app) enabledWith(ctx context.Context, w wiring) (*runtime.Registry, error) {
	at, err := a.place()
	if err != nil {
		return nil, err
	}
	l := &onDemand{open: sync.OnceValues(func() (*capabilities.Lifecycle, error) { return a.lifecycle(at) })}
	return a.registryWith(ctx, at, l, func(ctx context.Context, id, reason string) {
		a.warn("capability %s is disabled: it %s", id, reason)
		if err := l.disable(ctx, id, reason); err != nil {
			a.warn("disabling %s: %v", id, err)
		}
	}, w)
}

// warnUnaccepted says once in a session which shared files do not count in full, and again
// when they change: rules and configuration without effect are hard to notice otherwise.
func (a *app) warnUnaccepted(at place, s *session.Session) error {
	if !at.project.Exists() || a.flags.quiet {
		return nil
	}
	_, pending, _, err := pendingFiles(at.project)
	if err != nil || len(pending) == 0 {
		return err
	}
	said := filepath.Join(s.Dir, "unaccepted")
	now, err := json.Marshal(pending)
	if err != nil {
		return err
	}
	if before, err := regular.Read(said, 64<<10, false); err == nil && bytes.Equal(before, now) {
		return nil
	}
	a.note("not accepted as they are now: %s in .air/shared: what they deny counts, what they allow or configure does not (air accept)", paths(pending))
	return atomicfile.Write(said, now, 0o600)
}

// terminal is that of the person, nil where nobody can be asked.
func (a *app) terminal(at place, s *session.Session) *permission.Terminal {
	if !at.config.Prompt {
		return nil
	}
	t, err := a.openTerminal()
	if err != nil {
		return nil // no terminal device: nobody to ask
	}
	t.Refusals = counter.In(filepath.Join(s.Dir, "refusals"))
	a.later(t.Close)
	return t
}
