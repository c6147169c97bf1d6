// Package rig builds a registry with real stores in temporary folders, for tests.
package rig

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/aircoding/air/builtin/artifact"
	"github.com/aircoding/air/builtin/event"
	"github.com/aircoding/air/builtin/fs"
	"github.com/aircoding/air/builtin/git"
	"github.com/aircoding/air/builtin/network"
	question "github.com/aircoding/air/builtin/permission"
	"github.com/aircoding/air/builtin/process"
	"github.com/aircoding/air/builtin/shell"
	"github.com/aircoding/air/builtin/undo"
	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/home"
	"github.com/aircoding/air/internal/redact"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/backup"
	events "github.com/aircoding/air/runtime/event"
	hosts "github.com/aircoding/air/runtime/network"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/runner"
	"github.com/aircoding/air/runtime/secret"
	"github.com/aircoding/air/runtime/session"
)

// Options say how the rig differs from a fresh project without a person to ask.
type Options struct {
	Dir      string // the folder for all; "" for a temporary one
	Rules    string // of the person's permissions.yaml
	Mode     string
	Approver permission.Approver
	Chooser  permission.Chooser
	Provider runtime.Provider
	Budgets  runtime.Budgets
	Backups  backup.Options
	Tools    []*runtime.Tool // besides the built-in ones
	// Misbehaved is told instead of disabling a capability.
	Misbehaved func(ctx context.Context, capability, reason string)
	Redactor   func() (*redact.Redactor, error) // of the session's events
	Network    hosts.Fetcher                    // where names lead, and who vouches for hosts
}

// Rig is a project with its registry.
type Rig struct {
	testing.TB
	Registry *runtime.Registry
	Session  *session.Session
	Root     string // of the project, canonical
	Outside  string // a folder beside the project, canonical
	Home     home.Home
	Project  home.Project
}

// New makes a project in a temporary folder, and a registry with the built-in tools.
func New(t testing.TB, o Options) *Rig {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	top, err := filepath.EvalSymlinks(o.Dir)
	check(t, err)
	r := &Rig{TB: t, Root: filepath.Join(top, "project"), Outside: filepath.Join(top, "outside"), Home: home.Home{Dir: filepath.Join(top, "person", ".air")}}
	for _, dir := range []string{r.Root, r.Outside, r.Home.Dir} {
		check(t, os.MkdirAll(dir, 0o755))
	}
	r.Project, _, err = r.Home.Init(t.Context(), r.Root)
	check(t, err)
	r.Session, err = session.Current(t.Context(), r.Project, r.Home, session.Options{Redactor: o.Redactor})
	check(t, err)
	t.Cleanup(func() { check(t, r.Session.Close()) })
	r.Registry = r.registry(o)
	return r
}

func (r *Rig) registry(o Options) *runtime.Registry {
	paths := permission.NewPaths(permission.PathsConfig{
		ProjectRoot:      r.Root,
		Home:             filepath.Dir(r.Home.Dir),
		AirHome:          r.Home.Dir,
		SessionArtifacts: filepath.Join(r.Session.Dir, "artifacts"),
		Worktrees:        filepath.Join(r.Project.Dir, "workspaces"),
	})
	rules := r.Home.Path("permissions.yaml")
	if o.Rules != "" {
		check(r, os.WriteFile(rules, []byte(o.Rules), 0o600))
	}
	engine, err := permission.Load(permission.Options{
		UserFile: rules, GrantsFile: r.Home.Path("grants", filepath.Base(r.Project.Dir)+".json"), Mode: o.Mode, Paths: paths,
	})
	check(r, err)
	kept := backup.Open(filepath.Join(r.Project.Dir, "backups"), o.Backups)
	programs := runner.New(runner.Config{
		Paths: paths, Root: r.Root, Home: filepath.Dir(r.Home.Dir), State: r.Project.Dir, Session: r.Session.ID, Getenv: os.Getenv, Dialer: o.Network.Dialer,
	})
	registry, err := runtime.New(runtime.Config{
		Launcher: programs, Processes: programs,
		Session: r.Session, Permission: engine, Paths: paths, Approver: o.Approver, Chooser: o.Chooser,
		Provider: o.Provider, Misbehaved: o.Misbehaved, Budgets: o.Budgets,
		Backups: kept, Workspaces: r.workspaces(),
		Fetcher: o.Network, Secret: secret.Open(r.Home.Path("secrets")).Value,
		Hosts: hosts.Configured{Root: r.Root, Home: filepath.Join(r.Project.Dir, "state", "home"), Trees: paths.Worktrees(), Getenv: os.Getenv}.Hosts,
	}, append(r.builtin(kept, programs), o.Tools...)...)
	check(r, err)
	return registry
}

func (r *Rig) builtin(kept *backup.Store, programs *runner.Runner) []*runtime.Tool {
	r.Helper()
	at := shell.Place{Root: r.Root, Home: filepath.Dir(r.Home.Dir), Private: programs.Private, Confined: programs.Confined}
	implementations := map[string]runtime.Implementation{}
	for _, tools := range []map[string]runtime.Implementation{fs.Tools(), git.Tools(git.Place{Workspaces: r.workspaces()}), artifact.Tools(), event.Tools(), network.Tools(), question.Tools(), process.Tools(), shell.Tools(at), undo.Tools(kept, r.Session.ID)} {
		for name, implementation := range tools {
			implementations[name] = implementation
		}
	}
	tools, err := capabilities.BuiltinTools(implementations)
	check(r, err)
	return tools
}

func (r *Rig) workspaces() runtime.Workspaces {
	return runtime.Workspaces{Dir: filepath.Join(r.Project.Dir, "workspaces"), Records: filepath.Join(r.Project.Dir, "state", "workspaces")}
}

// Person answers every question as the function says.
type Person func(ctx context.Context, q permission.Question) (permission.Answer, error)

// Approve implements permission.Approver.
func (p Person) Approve(ctx context.Context, q permission.Question) (permission.Answer, error) {
	return p(ctx, q)
}

// Yes is a person who allows everything once.
var Yes = Person(func(context.Context, permission.Question) (permission.Answer, error) {
	return permission.Answer{Choice: permission.Once}, nil
})

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Call calls a tool with an input that is a JSON text or anything that encodes as one.
func (r *Rig) Call(tool string, input any) runtime.Envelope {
	r.Helper()
	return r.Registry.Call(r.Context(), runtime.Call{Tool: tool, Input: r.JSON(input)})
}

// Must calls a tool, and decodes the output of a call that has to succeed.
func (r *Rig) Must(tool string, input, output any) runtime.Envelope {
	r.Helper()
	envelope := r.Call(tool, input)
	if envelope.Error != nil {
		r.Fatalf("%s %s: %v", tool, r.JSON(input), envelope.Error)
	}
	if output != nil {
		check(r, json.Unmarshal(envelope.Output, output))
	}
	return envelope
}

// JSON is an input as JSON.
func (r *Rig) JSON(input any) json.RawMessage {
	r.Helper()
	if text, ok := input.(string); ok {
		return json.RawMessage(text)
	}
	text, err := json.Marshal(input)
	check(r, err)
	return text
}

// Put writes a file below the project, with its folders.
func (r *Rig) Put(path, content string) string {
	r.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Root, path)
	}
	check(r, os.MkdirAll(filepath.Dir(path), 0o755))
	check(r, os.WriteFile(path, []byte(content), 0o644))
	return path
}

// Events lists the session's stored events of a call, oldest first; of all calls for "".
func (r *Rig) Events(runID string) []events.Event {
	r.Helper()
	list, err := r.Session.Events.List(r.Context(), events.Query{RunID: runID})
	check(r, err)
	return list
}

// Types are the types of the stored events of a call, oldest first.
func (r *Rig) Types(runID string) []string {
	r.Helper()
	var types []string
	for _, e := range r.Events(runID) {
		types = append(types, e.Type)
	}
	return types
}
