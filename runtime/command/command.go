// Package command says what a command line would do, before it runs: which programs with
// which arguments, which files, hosts and variables, and how much is at risk. What it
// cannot know it says so about, and never guesses.
package command

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/permission"
)

// Place is what the meaning of a command line depends on.
type Place struct {
	Dir  string            // absolute: where it would run
	Root string            // absolute: the project's folder; "" where there is none
	Home string            // what ~ and $HOME stand for
	Env  map[string]string // what the call adds to the environment
	// Private are folders, absolute, that each run has for itself and finds empty. What it
	// does to paths below them is no effect, and a file that it runs from there is nobody's.
	Private []string
	// Confined says that no process is seen there but those of the command line itself.
	Confined bool
}

// isPrivate reports whether an absolute path lies in a private folder by its name. One with a
// ".." may leave it.
func (at Place) isPrivate(name string) bool {
	return !slices.Contains(strings.Split(name, "/"), "..") && slices.ContainsFunc(at.Private, func(dir string) bool {
		name := path.Clean(name)
		return name == dir || strings.HasPrefix(name, dir+"/")
	})
}

// PathEffects are those effects on a path that are not private.
func (at Place) PathEffects(effects ...permission.Effect) []permission.Effect {
	return slices.DeleteFunc(effects, func(e permission.Effect) bool { return at.isPrivate(e.Target) })
}

const (
	maxText     = 64 << 10 // bytes of a command line
	maxCommands = 1000     // simple commands in it
	maxNesting  = 100      // quotes, substitutions, blocks and the like inside each other
	// maxSteps bounds what is followed: loops and functions are gone through more than once.
	maxSteps = 4000
	// maxWords bounds the words of all commands, maxValue the bytes of a word or variable
	// put together, and maxOutput those of all effects and patterns.
	maxWords  = 20_000
	maxValue  = 16 << 10
	maxOutput = 1 << 20
	// maxWraps is how many wrappers and shells may run each other.
	maxWraps = 32
)

// Analyse names the effects of a command line in the language of bash: one run effect
// for each simple command, and the effects of all of them on files, hosts and the
// environment. Paths are absolute, but not canonical.
//
// The text is taken to be run by air's own shell, which asks again before each program and
// each file with the words that they have then: words that cannot be known before leave
// their command with the risk that it has at least. A command line of which something else
// cannot be known has the effect run(bash -c TEXT) with the risk opaque before the effects
// that are known. Text that does not parse, that hides
// characters from its reader, or that is too long or nested too deeply, is an error of
// kind invalid_input.
func Analyse(text string, at Place) ([]permission.Effect, error) {
	a, err := analyse(text, at)
	if err != nil {
		return nil, err
	}
	return a.result(text), nil
}

func analyse(text string, at Place) (*analysis, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	file, err := parseText(text, bash)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "bad_command", "the command does not parse: %w", err).
			WithHint("write it in the language of bash; what is meant literally goes in single quotes")
	}
	if err := checkSize(file); err != nil {
		return nil, err
	}
	a := &analysis{at: at}
	a.notePlace()
	if why := Unsupported(file); why != "" {
		a.unknown(why)
	}
	s := newShell(text, at.Dir)
	s.asks, s.again = true, true
	a.stmts(s, file.Stmts)
	a.followNames()
	a.followExports()
	return a, nil
}

// notePlace names what the call adds to the environment.
func (a *analysis) notePlace() {
	for _, name := range slices.Sorted(maps.Keys(a.at.Env)) {
		a.noteExport(name, value{kind: textValue, text: a.at.Env[name]})
	}
	if _, ok := a.at.Env["PS4"]; ok {
		a.unknown("PS4 holds code that runs where commands are traced")
	}
}

// result puts the effect of the whole command line first, where something in it cannot
// be known.
func (a *analysis) result(text string) []permission.Effect {
	if a.opaque == "" {
		return a.effects
	}
	for i := range a.effects {
		a.effects[i].Again = false // bash runs it
	}
	whole := permission.Effect{Kind: permission.Run, Target: permission.JoinArgv([]string{"bash", "-c", text}), Risk: permission.RiskOpaque, Why: a.opaque}
	return append([]permission.Effect{whole}, a.effects...)
}
