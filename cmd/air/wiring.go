package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"

	"github.com/aircoding/air/builtin/artifact"
	eventtool "github.com/aircoding/air/builtin/event"
	"github.com/aircoding/air/builtin/fs"
	"github.com/aircoding/air/builtin/git"
	"github.com/aircoding/air/builtin/network"
	question "github.com/aircoding/air/builtin/permission"
	processtool "github.com/aircoding/air/builtin/process"
	"github.com/aircoding/air/builtin/shell"
	"github.com/aircoding/air/builtin/undo"
	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/counter"
	"github.com/aircoding/air/internal/regular"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/command"
	"github.com/aircoding/air/runtime/engine"
	hosts "github.com/aircoding/air/runtime/network"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/runner"
	"github.com/aircoding/air/runtime/secret"
	"github.com/aircoding/air/runtime/session"
)

func (a *app) paths(at place, artifacts string) (*permission.Paths, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return permission.NewPaths(permission.PathsConfig{
		ProjectRoot:      at.project.Root,
		Home:             personHome(),
		AirHome:          at.home.Dir,
		AirBinary:        binary,
		SessionArtifacts: artifacts,
		Worktrees:        filepath.Join(at.project.Dir, "workspaces"),
		Path:             a.getenv("PATH"),
	}), nil
}

// personHome is the home of the person, "" where there is none: AIR_HOME alone is enough
// to run, and then nothing counts as a person's home.
func personHome() string {
	person, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return person
}

// permissions is the engine with the rules and grants that apply here, changed by change
// where that is not nil.
func (a *app) permissions(at place, paths *permission.Paths, change func(*permission.Options)) (*permission.Engine, error) {
	o := permission.Options{
		AdminFile:  "/etc/air/permissions.yaml",
		UserFile:   at.home.Path("permissions.yaml"),
		GrantsFile: at.home.Path("grants", filepath.Base(at.project.Dir)+".json"),
		Mode:       at.config.Mode,
		Paths:      paths,
		Judge:      judge(at),
		Unconfined: unconfined(runner.New(runner.Config{State: at.project.Dir})),
	}
	if at.project.Exists() {
		accepted, err := permission.LoadAcceptance(at.project)
		if err != nil {
			return nil, err
		}
		o.ProjectFile = at.project.Shared("permissions.yaml")
		o.Accepted = func(content []byte) bool { return accepted.Covers("permissions.yaml", content) }
	}
	if change != nil {
		change(&o)
	}
	return permission.Load(o)
}

// unconfined tells whether commands run outside a sandbox.
func unconfined(programs *runner.Runner) func() bool {
	return func() bool { return !programs.Confined() }
}

// judge names the effects of a command line in the project's folder.
func judge(at place) func(string) []permission.Effect {
	return func(line string) []permission.Effect {
		effects, err := command.Analyse(line, command.Place{Dir: at.project.Root, Root: at.project.Root, Home: personHome()})
		if err != nil {
			return nil // what cannot be analysed is not known
		}
		return effects
	}
}

// pool starts the workers that guests run in.
func (a *app) pool(at place) *engine.Pool {
	o := engine.PoolOptions{CacheDir: at.home.Path("cache", "wasm")}
	if a.flags.verbose {
		o.Log = func(message string) { a.note("%s", message) }
	}
	p := engine.NewPool(o)
	a.later(func() error { p.Close(); return nil })
	return p
}

func newGuest(pool *engine.Pool) func(capabilities.Module) runtime.Implementation {
	return func(m capabilities.Module) runtime.Implementation {
		return engine.NewGuest(pool, engine.Module{
			Capability: m.Capability, Tool: m.Tool, Path: m.Path, SHA256: m.ModuleSHA256,
			ABI: m.ABI, Limits: m.Limits, Config: m.Config,
		})
	}
}

// lifecycle manages what is installed and what this project has enabled.
func (a *app) lifecycle(at place) (*capabilities.Lifecycle, error) {
	events, err := a.projectEvents(at)
	if err != nil {
		return nil, err
	}
	accepted, err := permission.LoadAcceptance(at.project)
	if err != nil {
		return nil, err
	}
	return capabilities.New(capabilities.LifecycleConfig{
		Store:             capabilities.OpenStore(at.home.Path("capabilities")),
		Project:           at.project,
		Events:            events,
		Accepted:          func(content []byte) bool { return accepted.Covers("capabilities.yaml", content) },
		NewImplementation: newGuest(a.pool(at)),
	})
}

// projectLifecycle is lifecycle for verbs that need a project.
func (a *app) projectLifecycle() (*capabilities.Lifecycle, error) {
	at, err := a.needProject()
	if err != nil {
		return nil, err
	}
	return a.lifecycle(at)
}

// builtins are the native tools, declared by the manifests embedded in resources.
func builtins(at shell.Place, worktrees string, kept *backup.Store, sessionID string) ([]*runtime.Tool, error) {
	all := map[string]runtime.Implementation{}
	for _, group := range []map[string]runtime.Implementation{
		fs.Tools(), git.Tools(git.Place{Workspaces: worktrees}), artifact.Tools(), eventtool.Tools(), network.Tools(), question.Tools(), processtool.Tools(), shell.Tools(at), undo.Tools(kept, sessionID),
	} {
		for name, implementation := range group {
			all[name] = implementation
		}
	}
	return capabilities.BuiltinTools(all)
}

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
	rules, err := a.permissions(at, paths, func(o *permission.Options) {
		o.Unconfined = unconfined(programs)
		if w.rules != nil {
			w.rules(o)
		}
	})
	if err != nil {
		return nil, err
	}
	kept := backups(at)
	tools, err := builtins(shell.Place{Root: at.project.Root, Home: personHome()}, paths.Worktrees(), kept, s.ID)
	if err != nil {
		return nil, err
	}
	a.watch(s.Events)
	config := runtime.Config{
		Session:    s,
		Permission: rules,
		Paths:      paths,
		Provider:   provider,
		Backups:    kept,
		Workspaces: runtime.WorkspacesIn(at.project.Dir, paths),
		Budgets:    budgets(at.config.Budgets),
		Misbehaved: misbehaved,
		Launcher:   programs,
		Processes:  programs,
		Fetcher:    hosts.Fetcher{},
		Secret:     secret.Open(at.home.Path("secrets")).Value,
		Hosts:      hosts.Configured{Root: at.project.Root, Home: filepath.Join(at.project.Dir, "state", "home"), Getenv: a.getenv}.Hosts,
		Strikes:    runtime.StrikesIn(filepath.Join(at.project.Dir, "state", "quarantined")),
	}
	if t := a.terminal(at, s); t != nil {
		config.Approver, config.Chooser = t, t
		if w.approver != nil {
			config.Approver = w.approver(t)
		}
	}
	return runtime.New(config, tools...)
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
