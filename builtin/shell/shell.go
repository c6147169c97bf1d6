// Package shell brings the tool that runs a command.
package shell

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/command"
	"github.com/aircoding/air/runtime/permission"
)

// Place is where commands run.
type Place struct {
	Root string // the project's folder, absolute; "" without a project
	Home string // what ~ stands for, "" where nobody has a home
	// Private lists the folders that a command has for itself, as long as they are; nil: none.
	Private func() []string
	// Confined tells whether a command sees no process but its own; nil: it does not.
	Confined func() bool
}

// Tools returns the implementations by tool name.
func Tools(at Place) map[string]runtime.Implementation {
	return map[string]runtime.Implementation{
		"shell.run": runtime.Typed[runInput]{Effects: at.effects, Do: at.run},
	}
}

type runInput struct {
	Command     string            `json:"command"`
	Cwd         string            `json:"cwd"`
	TimeoutMS   int64             `json:"timeout_ms"`
	Env         map[string]string `json:"env"`
	Stdin       string            `json:"stdin"`
	CaptureMode string            `json:"capture_mode"`
	Purpose     string            `json:"purpose"`
}

// effects are those of the command, and reading the folder that it starts in, which is
// named as the call names it: the runtime resolves it like any path of a call.
func (at Place) effects(in runInput) ([]permission.Effect, error) {
	dir, err := at.dir(in.Cwd)
	if err != nil {
		return nil, err
	}
	if err := checkEnv(in.Env); err != nil {
		return nil, err
	}
	place := command.Place{Dir: dir, Root: at.Root, Home: at.Home, Env: in.Env}
	if at.Private != nil {
		place.Private = at.Private()
	}
	place.Confined = at.Confined != nil && at.Confined()
	effects, err := command.Analyse(in.Command, place)
	if err != nil {
		return nil, err
	}
	folder := permission.Effect{Kind: permission.Read, Target: in.Cwd, Folder: true}
	return append([]permission.Effect{folder}, effects...), nil
}

// dir is a working folder as an absolute path, by its name alone. A ".." stays: where it
// leads depends on the links before it.
func (at Place) dir(cwd string) (string, error) {
	switch {
	case path.IsAbs(cwd):
	case at.Root == "":
		return "", fault.New(fault.InvalidInput, "no_project", "the folder %.200q is relative, and there is no project here", cwd).
			WithHint("write an absolute path, or make this folder a project with air init")
	default:
		cwd = at.Root + "/" + cwd
	}
	if slices.Contains(strings.Split(cwd, "/"), "..") {
		return cwd, nil
	}
	return path.Clean(cwd), nil
}

// checkEnv refuses what no environment can hold.
func checkEnv(env map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value := env[name]
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return fault.New(fault.InvalidInput, "bad_env", "the variable %.200q: a name without = and a value without NUL are wanted", name)
		}
	}
	return nil
}
