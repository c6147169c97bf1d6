package command

import (
	"maps"
	"slices"

	"github.com/aircoding/air/runtime/permission"
)

// analysis collects what a command line does.
type analysis struct {
	at      Place
	effects []permission.Effect
	index   map[effectKey]int
	opaque  string // the first reason why the whole cannot be known
	output  int    // bytes of all effects and patterns
	steps   int
	words   int
	wraps   int

	exports map[string]bool // variables in the environment whose value is no plain word or flag
	expands bool            // a program takes them into commands

	line     Line
	deferred int  // inside a program whose words are only known when it runs
	later    bool // something is asked only then

	names  map[string][]made // by their clean paths in small letters
	uses   []pathUse
	used   map[pathUse]bool
	looked int // bytes of paths that are compared with the names
}

type effectKey struct {
	kind   permission.Kind
	target string
}

// unknown notes that something in the command line cannot be known.
func (a *analysis) unknown(why string) {
	if a.opaque == "" && a.deferred == 0 {
		a.opaque = why
	}
}

// unknownProgram is unknown for what one program does.
func (a *analysis) unknownProgram(f *finding, why string) {
	if a.deferred > 0 {
		return
	}
	f.raise(permission.RiskOpaque, why)
	a.unknown(why)
}

// notKnown says so of something.
func notKnown(what string) string { return what + " cannot be known before it runs" }

const tooMuch = "it does more than can be followed before it runs"

// step reports whether one more statement is followed.
func (a *analysis) step() bool {
	a.steps++
	if a.steps > maxSteps || a.words > maxWords || a.output > maxOutput {
		a.unknown(tooMuch)
		return false
	}
	return true
}

// add notes an effect. Of two with the same target the worse one stays.
func (a *analysis) add(e permission.Effect) {
	if e.Kind.IsPath() && a.at.isPrivate(e.Target) {
		return
	}
	if a.output > maxOutput {
		a.unknown(tooMuch)
		return
	}
	if a.index == nil {
		a.index = make(map[effectKey]int, 16)
	}
	key := effectKey{e.Kind, e.Target}
	at, ok := a.index[key]
	if !ok {
		a.index[key] = len(a.effects)
		a.effects = append(a.effects, e)
		a.output += len(e.Target) + len(e.Also) + len(e.Script)
		return
	}
	old := &a.effects[at]
	if rank(e.Risk) > rank(old.Risk) {
		old.Risk, old.Why = e.Risk, e.Why
	}
	old.Recursive = old.Recursive || e.Recursive
	old.Below, old.Hosts = old.Below && e.Below, old.Hosts || e.Hosts
	old.Known, old.Repository = old.Known && e.Known, old.Repository || e.Repository
	old.Again = old.Again && e.Again
	if old.Script == "" {
		old.Script = e.Script
	}
}

// noteRun notes a simple command of which it is known what it does.
func (a *analysis) noteRun(words []word, risk permission.Risk, why string) {
	a.add(permission.Effect{Kind: permission.Run, Target: argvOf(words), Risk: risk, Why: why})
}

func argvOf(words []word) string {
	argv := make([]string, len(words))
	for i, w := range words {
		argv[i] = w.text
	}
	return permission.JoinArgv(argv)
}

// noteEnv notes a variable that changes what programs do.
func (a *analysis) noteEnv(name string, v value) {
	if changesWhatRuns(name, v) {
		a.add(permission.Effect{Kind: permission.Env, Target: name})
	}
}

// noteExport notes a variable that a command puts into the environment.
func (a *analysis) noteExport(name string, v value) {
	a.noteEnv(name, v)
	if exportChanges(name, v) {
		a.add(permission.Effect{Kind: permission.Env, Target: name})
	}
	if !harmlessVariables[name] && !plainSetting(name, v) {
		if a.exports == nil {
			a.exports = map[string]bool{}
		}
		a.exports[name] = true
	}
}

// followExports adds the variables that a program may take into the commands that it
// runs.
func (a *analysis) followExports() {
	if !a.expands {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(a.exports)) {
		a.add(permission.Effect{Kind: permission.Env, Target: name})
	}
}
