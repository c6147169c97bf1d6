package command

import (
	"maps"
	"path"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// value is what is known of a variable.
type value struct {
	kind  valueKind
	text  string
	fixed bool // readonly
}

type valueKind uint8

const (
	anyValue    valueKind = iota // can only be known when it runs
	textValue                    // exactly the text
	numberValue                  // some whole number
	globValue                    // one of the names that the text matches as a pattern
)

func (v value) isNumber() bool {
	return v.kind == numberValue || v.kind == textValue && isDecimal(v.text)
}

// isDecimal reports whether a text is a number that no shell reads in another base.
func isDecimal(text string) bool {
	if len(text) > 1 && text[0] == '-' {
		text = text[1:]
	}
	return len(text) < 18 && isDigits(text) && (text[0] != '0' || len(text) == 1)
}

// shell is what is known of a shell at one point of the text.
type shell struct {
	source  string   // the text that it reads
	posix   bool     // as a shell that knows POSIX only would
	asks    bool     // it is air's own: it asks before each program and file
	again   bool     // what it runs is decided with the scripts that are there then
	running []string // functions, outermost first

	dirs  []string   // it is in one of these folders; empty where that is not known
	back  []string   // where cd - leads
	stack [][]string // of pushd, the last one on top
	vars  map[string]value
	funcs map[string]*syntax.Stmt // nil: some function of the name, or none
	// params are $1 and so on, where hasParams says that they are known.
	params    []value
	hasParams bool

	dead   bool // the text after this point is not reached
	wild   bool // a variable that is not in vars may have been changed, too
	split  bool // IFS is not the usual one
	inFunc bool

	ownVars, ownFuncs bool // the maps are no other shell's
}

func newShell(source, dir string) *shell {
	s := &shell{source: source}
	if dir != "" {
		s.dirs = []string{dir}
	}
	return s
}

func (s *shell) clone() *shell {
	s.ownVars, s.ownFuncs = false, false
	other := *s
	return &other
}

// orClone is s, or a clone of other where there is none.
func (s *shell) orClone(other *shell) *shell {
	if s == nil {
		return other.clone()
	}
	return s
}

func (s *shell) set(name string, v value) {
	if !s.ownVars {
		s.vars = maps.Clone(s.vars)
		if s.vars == nil {
			s.vars = map[string]value{}
		}
		s.ownVars = true
	}
	if old := s.vars[name]; old.fixed {
		v = value{fixed: true}
	}
	if name == "IFS" {
		s.split = true
	}
	if len(v.text) > maxValue {
		v = value{fixed: v.fixed}
	}
	s.vars[name] = v
}

func (s *shell) forget(name string) {
	if _, ok := s.vars[name]; ok {
		s.set(name, value{})
		delete(s.vars, name)
	}
}

func (s *shell) setFunc(name string, body *syntax.Stmt) {
	if !s.ownFuncs {
		s.funcs = maps.Clone(s.funcs)
		if s.funcs == nil {
			s.funcs = map[string]*syntax.Stmt{}
		}
		s.ownFuncs = true
	}
	s.funcs[name] = body
}

// forgetAll is for code that cannot be known and runs in the shell itself.
func (s *shell) forgetAll() {
	for name := range s.vars {
		s.set(name, value{})
	}
	for name := range s.funcs {
		s.setFunc(name, nil)
	}
	s.dirs, s.back, s.stack, s.params, s.hasParams = nil, nil, nil, nil, false
	s.wild, s.split, s.dead = true, true, false
}

// merge makes s what is known where either s or o holds.
func (s *shell) merge(o *shell) {
	if o == nil || o.dead {
		return
	}
	if s.dead {
		*s = *o.clone()
		return
	}
	s.dirs, s.back = eitherOf(s.dirs, o.dirs), eitherOf(s.back, o.back)
	if !slices.EqualFunc(s.stack, o.stack, slices.Equal) {
		s.stack = nil
	}
	if s.hasParams != o.hasParams || !slices.Equal(s.params, o.params) {
		s.params, s.hasParams = nil, false
	}
	s.wild, s.split, s.inFunc = s.wild || o.wild, s.split || o.split, s.inFunc && o.inFunc
	s.mergeVars(o)
	s.mergeFuncs(o)
}

func (s *shell) mergeVars(o *shell) {
	for name, v := range o.vars {
		if old, ok := s.vars[name]; !ok || old != v {
			s.blur(name, v)
		}
	}
	for name, v := range s.vars {
		if _, ok := o.vars[name]; !ok {
			s.blur(name, v)
		}
	}
}

// blur makes a variable unknown that may have another value.
func (s *shell) blur(name string, other value) {
	old := s.vars[name]
	v := value{fixed: old.fixed || other.fixed}
	if old.isNumber() && other.isNumber() {
		v.kind = numberValue
	}
	s.set(name, value{})
	s.vars[name] = v
}

func (s *shell) mergeFuncs(o *shell) {
	for name, body := range o.funcs {
		if old, ok := s.funcs[name]; !ok || old != body {
			s.setFunc(name, nil)
		}
	}
	for name := range s.funcs {
		if _, ok := o.funcs[name]; !ok {
			s.setFunc(name, nil)
		}
	}
}

// maxDirs is how many folders a shell may be in before none is known.
const maxDirs = 4

func eitherOf(a, b []string) []string {
	if slices.Equal(a, b) {
		return a
	}
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	all := slices.Clone(a)
	for _, dir := range b {
		if !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	if len(all) > maxDirs {
		return nil
	}
	return all
}

// enter changes the folder, and returns the shell for which that failed.
func (s *shell) enter(dirs []string) (onFail *shell) {
	onFail = s.clone()
	s.back, s.dirs = s.dirs, dirs
	s.forget("PWD")
	s.forget("OLDPWD")
	return onFail
}

// to is where a change to a folder leads: as shells do it, by name.
func (s *shell) to(dir string) []string {
	if path.IsAbs(dir) {
		return []string{path.Clean(dir)}
	}
	var dirs []string
	for _, from := range s.dirs {
		dirs = append(dirs, path.Join(from, dir))
	}
	return dirs
}

// get returns what is known of a variable.
func (a *analysis) get(s *shell, name string) value {
	if v, ok := s.vars[name]; ok {
		return v
	}
	if numberVariables[name] {
		return value{kind: numberValue}
	}
	if s.wild || shellVariables[name] {
		return value{}
	}
	switch v, ok := a.at.Env[name]; {
	case name == "PWD":
		if len(s.dirs) == 1 {
			return value{kind: textValue, text: s.dirs[0]}
		}
	case name == "IFS": // which no shell takes from its environment
		return value{kind: textValue, text: " \t\n"}
	case ok:
		return value{kind: textValue, text: v}
	case name == "HOME" && a.at.Home != "":
		return value{kind: textValue, text: a.at.Home}
	}
	return value{}
}

// assign changes a variable by name. What a shell sets itself never has the value that
// it was given.
func (a *analysis) assign(s *shell, name string, v value) {
	a.noteEnv(name, v)
	if name == "PS4" {
		a.unknown("PS4 holds code that runs where commands are traced")
	}
	if numberVariables[name] || shellVariables[name] {
		return
	}
	if s.vars[name].fixed {
		a.unknown("a variable that is read-only is changed")
	}
	s.set(name, v)
}
