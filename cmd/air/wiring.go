package main

import (
	"os"
	"path/filepath"

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
	"github.com/aircoding/air/doctor"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/backup"
	"github.com/aircoding/air/runtime/command"
	"github.com/aircoding/air/runtime/engine"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/runner"
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
	programs := runner.New(runner.Config{Root: at.project.Root, Home: personHome(), State: at.project.Dir})
	return func(line string) []permission.Effect {
		effects, err := command.Analyse(line, command.Place{Dir: at.project.Root, Root: at.project.Root, Home: personHome(), Private: programs.Private(), Confined: programs.Confined()})
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
	policy, err := capabilities.ParsePolicy(at.home.Path("config.yaml"), at.config.Policy)
	if err != nil {
		return nil, err
	}
	return capabilities.New(capabilities.LifecycleConfig{
		Store:             store(at),
		Project:           at.project,
		Events:            events,
		Accepted:          func(content []byte) bool { return accepted.Covers("capabilities.yaml", content) },
		AcceptedLock:      func(content []byte) bool { return accepted.Covers(capabilities.LockFile, content) },
		Signer:            judgeSignatures(at).signer,
		Policy:            policy,
		Dependencies:      a.doctor(at).Check,
		NewImplementation: newGuest(a.pool(at)),
	})
}

// doctor looks at this machine, and takes no program of the project for one of it.
func (a *app) doctor(at place) *doctor.Doctor {
	return doctor.New(doctor.Config{Getenv: a.getenv, Root: at.project.Root})
}

// projectLifecycle is lifecycle for verbs that need a project.
func (a *app) projectLifecycle() (place, *capabilities.Lifecycle, error) {
	at, err := a.needProject()
	if err != nil {
		return at, nil, err
	}
	l, err := a.lifecycle(at)
	return at, l, err
}

// builtins are the native tools, declared by the manifests embedded in resources.
func builtins(at shell.Place, workspaces runtime.Workspaces, kept *backup.Store, sessionID string) ([]*runtime.Tool, error) {
	all := map[string]runtime.Implementation{}
	for _, group := range []map[string]runtime.Implementation{
		fs.Tools(), git.Tools(git.Place{Workspaces: workspaces}), artifact.Tools(), eventtool.Tools(), network.Tools(), question.Tools(), processtool.Tools(), shell.Tools(at), undo.Tools(kept, sessionID),
	} {
		for name, implementation := range group {
			all[name] = implementation
		}
	}
	return capabilities.BuiltinTools(all)
}
