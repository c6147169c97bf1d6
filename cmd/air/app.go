package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aircoding/air/builtin/artifact"
	eventtool "github.com/aircoding/air/builtin/event"
	"github.com/aircoding/air/builtin/fs"
	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/config"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/engine"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/session"
)

// app is one invocation of air. Its parts are built when a verb first needs them.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string

	flags struct {
		output, project, session, task string
		noPrompt, quiet, verbose       bool
		timeout                        time.Duration
	}
	ran     bool // a command's own code was reached
	printed bool // stdout has the command's answer

	closers []func() error
}

func (a *app) later(close func() error) { a.closers = append(a.closers, close) }

func (a *app) close() error {
	var all error
	for i := len(a.closers) - 1; i >= 0; i-- {
		all = errors.Join(all, a.closers[i]())
	}
	a.closers = nil
	return all
}

// place is where this invocation happens.
type place struct {
	home    home.Home
	project home.Project
	config  config.Config
}

func (a *app) place() (place, error) {
	h, err := home.Locate(a.getenv)
	if err != nil {
		return place{}, err
	}
	start := a.flags.project
	if start == "" {
		if start, err = os.Getwd(); err != nil {
			return place{}, err
		}
	}
	p, err := h.Find(start)
	if err != nil {
		return place{}, err
	}
	c, err := config.Load(h.Dir, a.getenv)
	return place{h, p, c}, err
}

// needProject is place for verbs that make no sense outside a project.
func (a *app) needProject() (place, error) {
	at, err := a.place()
	if err == nil && !at.project.Exists() {
		err = fault.New(fault.InvalidInput, "no_project", "there is no project here").WithHint("air init makes this folder a project")
	}
	return at, err
}

func (a *app) session(ctx context.Context, at place) (*session.Session, error) {
	id := a.flags.session
	if id == "" {
		id = a.getenv("AIR_SESSION")
	}
	s, err := session.Current(ctx, at.project, at.home, session.Options{Session: id, Task: a.flags.task})
	if err == nil {
		a.later(s.Close)
	}
	return s, err
}

// projectEvents is the store of events that belong to no session.
func (a *app) projectEvents(at place) (*event.Store, error) {
	s, err := session.ProjectEvents(at.project, at.home)
	if err == nil {
		a.later(s.Close)
	}
	return s, err
}

func (a *app) paths(at place, artifacts string) (*permission.Paths, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	person, err := os.UserHomeDir()
	if err != nil {
		person = "" // AIR_HOME alone is enough to run; then nothing counts as a person's home
	}
	return permission.NewPaths(permission.PathsConfig{
		ProjectRoot:      at.project.Root,
		Home:             person,
		AirHome:          at.home.Dir,
		AirBinary:        binary,
		SessionArtifacts: artifacts,
		Worktrees:        filepath.Join(at.project.Dir, "workspaces"),
		Path:             a.getenv("PATH"),
	}), nil
}

func (a *app) permissions(at place, paths *permission.Paths) (*permission.Engine, error) {
	o := permission.Options{
		AdminFile:  "/etc/air/permissions.yaml",
		UserFile:   at.home.Path("permissions.yaml"),
		GrantsFile: at.home.Path("grants", filepath.Base(at.project.Dir)+".json"),
		Mode:       at.config.Mode,
		Paths:      paths,
	}
	if at.project.Exists() {
		accepted, err := acceptance(at.project)
		if err != nil {
			return nil, err
		}
		o.ProjectFile = at.project.Shared("permissions.yaml")
		o.Accepted = func(content []byte) bool { return accepted.Covers("permissions.yaml", content) }
	}
	return permission.Load(o)
}

// pool starts the workers that guests run in.
func (a *app) pool(at place) *engine.Pool {
	p := engine.NewPool(engine.PoolOptions{CacheDir: at.home.Path("cache", "wasm")})
	a.later(func() error { p.Close(); return nil })
	return p
}

func newGuest(pool *engine.Pool) func(capabilities.Module) runtime.Implementation {
	return func(m capabilities.Module) runtime.Implementation {
		return engine.NewGuest(pool, engine.Module{
			Capability: m.Capability, Tool: m.Tool, Path: m.Path, SHA256: m.ModuleSHA256, Limits: m.Limits, Config: m.Config,
		})
	}
}

// lifecycle manages what is installed and what this project has enabled.
func (a *app) lifecycle(at place) (*capabilities.Lifecycle, error) {
	events, err := a.projectEvents(at)
	if err != nil {
		return nil, err
	}
	accepted, err := acceptance(at.project)
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
func builtins() ([]*runtime.Tool, error) {
	all := map[string]runtime.Implementation{}
	for _, group := range []map[string]runtime.Implementation{fs.Tools(), artifact.Tools(), eventtool.Tools()} {
		for name, implementation := range group {
			all[name] = implementation
		}
	}
	return capabilities.BuiltinTools(all)
}

// registry is the one way to call tools. provider brings the tools that are not built
// in; spoofed is told of capabilities that emit under foreign names.
func (a *app) registry(ctx context.Context, at place, provider runtime.Provider, spoofed func(context.Context, string, string)) (*runtime.Registry, error) {
	s, err := a.session(ctx, at)
	if err != nil {
		return nil, err
	}
	paths, err := a.paths(at, filepath.Join(s.Dir, "artifacts"))
	if err != nil {
		return nil, err
	}
	rules, err := a.permissions(at, paths)
	if err != nil {
		return nil, err
	}
	tools, err := builtins()
	if err != nil {
		return nil, err
	}
	a.watch(s.Events)
	return runtime.New(runtime.Config{
		Session:    s,
		Permission: rules,
		Paths:      paths,
		Approver:   a.approver(at, s),
		Provider:   provider,
		Spoofed:    spoofed,
	}, tools...)
}

// enabled is the registry of the project's enabled capabilities.
func (a *app) enabled(ctx context.Context) (*runtime.Registry, error) {
	at, err := a.place()
	if err != nil {
		return nil, err
	}
	if err := a.warnUnaccepted(at); err != nil {
		return nil, err
	}
	l := &onDemand{open: sync.OnceValues(func() (*capabilities.Lifecycle, error) { return a.lifecycle(at) })}
	return a.registry(ctx, at, l, func(ctx context.Context, id, eventType string) {
		a.warn("capability %s is disabled: it emitted %q, which is not its own event", id, eventType)
		if err := l.disable(ctx, id, "emitted the event "+eventType+", which is not its own"); err != nil {
			a.warn("disabling %s: %v", id, err)
		}
	})
}

// warnUnaccepted says which shared files do not count in full: rules and configuration
// without effect are hard to notice otherwise.
func (a *app) warnUnaccepted(at place) error {
	if !at.project.Exists() {
		return nil
	}
	pending, _, err := pendingFiles(at.project)
	if len(pending) > 0 {
		a.note("not accepted as they are now: %s in .air/shared: what they deny counts, what they allow or configure does not (air accept)", paths(pending))
	}
	return err
}

// onDemand opens the project's capabilities when a tool that is not built in is wanted:
// a call of a built-in tool does not wait for it.
type onDemand struct {
	open func() (*capabilities.Lifecycle, error)
}

func (o *onDemand) Tool(ctx context.Context, name string) (*runtime.Tool, error) {
	l, err := o.open()
	if err != nil {
		return nil, err
	}
	return l.Tool(ctx, name)
}

func (o *onDemand) Tools(ctx context.Context) ([]*runtime.Tool, error) {
	l, err := o.open()
	if err != nil {
		return nil, err
	}
	return l.Tools(ctx)
}

func (o *onDemand) disable(ctx context.Context, id, reason string) error {
	l, err := o.open()
	if err != nil {
		return err
	}
	return l.Disable(ctx, id, reason)
}

// approver is the person at the terminal, or nil.
func (a *app) approver(at place, s *session.Session) permission.Approver {
	if !at.config.Prompt || a.flags.noPrompt || !isTerminal(a.stderr) {
		return nil
	}
	t, err := permission.OpenTerminal()
	if err != nil {
		return nil // no terminal device: nobody to ask
	}
	t.Refusals = permission.RefusalsIn(filepath.Join(s.Dir, "refusals"))
	a.later(t.Close)
	return t
}

// appendEvent records something that a person did.
func appendEvent(ctx context.Context, store *event.Store, eventType string, payload any) error {
	body, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	_, err = store.Append(ctx, event.Event{Type: eventType, Source: event.Source{Kind: "person"}, Payload: body})
	return err
}

func argOr(args []string, otherwise string) string {
	if len(args) > 0 {
		return args[0]
	}
	return otherwise
}

// idArgument reads ID or ID@DIGEST.
func idArgument(arg string) (id, digest string, err error) {
	id, digest, ok := capabilities.SplitID(arg)
	if !ok {
		err = fault.New(fault.InvalidInput, "bad_name", "%.80q is neither ID nor ID@sha256:…", arg).WithHint("air ls shows the ids; a digest may be shortened to 8 digits")
	}
	return id, digest, err
}
