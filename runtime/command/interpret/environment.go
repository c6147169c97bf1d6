package interpret

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
)

func environment(pairs []string) map[string]string {
	all := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		name, text, _ := strings.Cut(pair, "=")
		all[name] = text
	}
	return all
}

// exported is the environment of a program.
func exported(env expand.Environ, dir string) map[string]string {
	all := map[string]string{}
	for name, v := range env.Each { // those of inner scopes come later
		if v.Exported && v.Kind == expand.String && v.IsSet() {
			all[name] = v.Str
		} else {
			delete(all, name)
		}
	}
	all["PWD"] = dir
	return all
}

func pairs(env map[string]string) []string {
	all := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, name+"="+env[name])
	}
	return all
}

// folderNames are variables that cd changes.
var folderNames = map[string]bool{"PWD": true, "OLDPWD": true}

// changes are the variables of a program that are not as they were at the start.
func (s *shell) changes(env map[string]string) (assigned, gone [][]byte) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if before, ok := s.before[name]; (!ok || before != env[name]) && !folderNames[name] {
			assigned = append(assigned, []byte(name+"="+env[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.before)) {
		if _, ok := env[name]; !ok && !folderNames[name] {
			gone = append(gone, []byte(name))
		}
	}
	return assigned, gone
}

// temporaryOnce is the environment of the process, but for the first look at TMPDIR: then
// the interpreter learns where its named pipes go. That is a folder of its own, as it opens
// what lies there under the names of its pipes without a question.
type temporaryOnce struct {
	shell *shell
	env   expand.Environ
	made  string
	given bool
}

var _ expand.Environ = (*temporaryOnce)(nil)

func (t *temporaryOnce) Get(name string) expand.Variable {
	t.fill()
	if name == "TMPDIR" && !t.given {
		t.given = true
		dir, err := os.MkdirTemp("", "air-shell-")
		if err != nil {
			dir = "/nonexistent/air-shell" // named pipes are refused then, with a message
		} else {
			t.made = dir
		}
		t.shell.pipes = filepath.Clean(dir)
		return expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: dir}
	}
	return t.env.Get(name)
}

func (t *temporaryOnce) Each(each func(name string, v expand.Variable) bool) {
	t.fill()
	t.env.Each(each)
}

func (t *temporaryOnce) fill() {
	if t.env == nil {
		t.env = expand.ListEnviron(os.Environ()...)
	}
}

func (t *temporaryOnce) remove() {
	if t.made != "" {
		os.RemoveAll(t.made)
	}
}
