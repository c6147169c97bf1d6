package command

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/aircoding/air/runtime/permission"
)

// call follows a simple command: assignments, or words with assignments that hold for
// them only.
func (a *analysis) call(s *shell, c *syntax.CallExpr, stdin value) (onFail *shell) {
	words := a.fields(s, c.Args)
	how := manner{stdin: stdin}
	if len(words) == 0 {
		for _, as := range c.Assigns {
			a.assignment(s, as)
		}
		return nil
	}
	how.at = a.place(s, c.Args[0], words[0])
	assigns := c.Assigns
	if isRead(s, words) && len(assigns) == 1 && assigns[0].Name.Value == "IFS" && assigns[0].Index == nil && assigns[0].Array == nil { // which read alone splits by
		a.literal(s, assigns[0].Value)
		assigns = nil
	}
	if len(assigns) == 0 {
		return a.run(s, words, how)
	}
	before := s.clone()
	for _, as := range assigns {
		a.assignment(s, as)
		a.noteExport(as.Name.Value, s.vars[as.Name.Value])
	}
	onFail = a.run(s, words, how)
	stays := staysSet(before, words)
	for _, as := range assigns {
		s.restore(as.Name.Value, before, stays)
		if onFail != nil {
			onFail.restore(as.Name.Value, before, stays)
		}
	}
	s.split = s.split && (before.split || stays)
	return onFail
}

// isRead reports whether words call the builtin read, of which no shell keeps a variable
// that is set before it.
func isRead(s *shell, words []word) bool {
	_, function := s.funcs["read"]
	return words[0].text == "read" && !function && !slices.ContainsFunc(words, func(w word) bool { return w.unknown })
}

// staysSet reports whether an assignment before these words may hold after them: some
// shells keep it for a builtin or function, all do where there are no words in the end.
func staysSet(s *shell, words []word) bool {
	for _, w := range words {
		if w.unknown {
			return true
		}
	}
	_, function := s.funcs[words[0].text]
	return function || builtinFor(words[0].text) != nil
}

func (s *shell) restore(name string, before *shell, stays bool) {
	old, had := before.vars[name]
	switch {
	case stays:
		s.set(name, value{})
	case had:
		s.set(name, value{})
		s.vars[name] = old
	default:
		s.forget(name)
	}
}

// assignment follows NAME=value in its forms.
func (a *analysis) assignment(s *shell, as *syntax.Assign) {
	name := as.Name.Value
	if as.Index != nil {
		a.arrayIndex(s, as.Index)
		a.literal(s, as.Value)
		a.assign(s, name, value{})
		return
	}
	if as.Array != nil {
		for _, e := range as.Array.Elems {
			if e.Index != nil {
				a.arrayIndex(s, e.Index)
			}
			if e.Value != nil {
				a.fields(s, []*syntax.Word{e.Value})
			}
		}
		a.assign(s, name, value{})
		return
	}
	v := a.literal(s, as.Value)
	if as.Append {
		v = joinValues(a.get(s, name), v)
	}
	a.assign(s, name, v)
}

func joinValues(old, more value) value {
	if old.kind != textValue || more.kind != textValue {
		return value{}
	}
	return value{kind: textValue, text: old.text + more.text}
}

// manner is how words are run.
type manner struct {
	plain bool  // a function of the name does not count
	stdin value // what is read, where that is known
	heard bool  // it is followed elsewhere
	at    uint  // where the command begins in the text
}

// place is where a command begins. It notes there whether its name is known.
func (a *analysis) place(s *shell, written *syntax.Word, name word) uint {
	at := written.Pos().Offset()
	switch {
	case !s.asks:
	case name.unknown || name.pattern:
		mark(&a.line.later, at)
	case written.Lit() != name.text:
		mark(&a.line.named, at)
	}
	return at
}

func (a *analysis) run(s *shell, words []word, how manner) (onFail *shell) {
	name := words[0]
	if name.unknown || name.pattern {
		return a.someProgram(s, words)
	}
	if _, declared := s.funcs[name.text]; declared && !how.plain {
		a.callFunc(s, words)
		return nil
	}
	if b := builtinFor(name.text); b != nil {
		return b(a, s, words, how)
	}
	a.external(s, words, how)
	return nil
}

// someProgram is a command whose name is not known. Air's shell refuses a function, and a
// builtin that evaluates words, by such a name.
func (a *analysis) someProgram(s *shell, words []word) *shell {
	why := notKnown("which program " + words[0].text + " stands for")
	if !s.asks {
		return a.evaluates(s, words, why)
	}
	a.later = true
	a.noteRun(words, permission.RiskReadOnly, "")
	s.forgetAll()
	return nil
}

// external is a program, in each folder where it may run.
func (a *analysis) external(s *shell, words []word, how manner) {
	k := caller{shell: s, stdin: how.stdin, heard: how.heard, place: hearing{how.at, argvOf(words)}}
	if s.asks && (len(s.dirs) == 0 || slices.ContainsFunc(words, word.later)) {
		a.externalLater(s, words, k)
		return
	}
	if len(s.dirs) == 0 {
		a.follow(&simple{words: words}, k)
	}
	for _, dir := range s.dirs {
		a.follow(&simple{words: words, dir: dir}, k)
	}
}
