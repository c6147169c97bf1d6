package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/aircoding/air/runtime/permission"
)

// builtin is a command that the shell carries out itself, and that may change the shell.
type builtin func(a *analysis, s *shell, words []word, how manner) (onFail *shell)

// builtinFor returns nil for the builtins that do what programs do, such as echo. It is no
// table, as some builtins come back to it.
func builtinFor(name string) builtin {
	switch name {
	case "cd":
		return changeDir
	case "pushd":
		return pushDir
	case "popd":
		return popDir
	case "command", "builtin":
		return runPlain
	case "exec":
		return runInstead
	case "exit", "return":
		return leave
	case "set":
		return setOptions
	case "shift":
		return shiftParams
	case "unset":
		return unsetNames
	case "shopt":
		return shellOptions
	case "trap":
		return trapSignals
	case "getopts":
		return getOptions
	case "mapfile", "readarray":
		return readLines
	case "printf", "test", "[":
		return evaluating
	case "wait", "hash":
		return withOption
	case "kill":
		return asProgram
	case "read":
		return readWords
	case "break", "continue", "dirs", "help", "type", "true", "false", ":", "pwd":
		return harmless
	}
	if why := opaqueBuiltins[name]; why != "" {
		return opaqueBuiltin
	}
	return nil
}

var opaqueBuiltins = map[string]string{
	"eval": "eval runs text as a command", "source": "source runs a file in the shell itself", ".": "source runs a file in the shell itself",
	"alias": "an alias gives a name another meaning", "unalias": "an alias gives a name another meaning", "enable": "enable changes what the names of builtins mean",
	"let": "let evaluates text", "bind": "bind runs text", "complete": "complete runs text",
	"compgen": "compgen evaluates and runs text", "compopt": "compopt changes what completion runs", "fc": "fc runs commands again", "history": "history changes what is run again",
	"declare": "a quoted declare evaluates its words", "typeset": "a quoted typeset evaluates its words", "local": "a quoted local evaluates its words",
	"export": "a quoted export evaluates its words", "readonly": "a quoted readonly evaluates its words",
	"coproc": "a coprocess runs beside the rest",
	"umask":  lacking, "ulimit": lacking, "times": lacking, "caller": lacking, "logout": lacking, "suspend": lacking,
	"jobs": lacking, "bg": lacking, "fg": lacking, "disown": lacking, "newgrp": lacking,
}

const lacking = "air's shell has no such builtin, bash does"

func opaqueBuiltin(a *analysis, s *shell, words []word, _ manner) *shell {
	return a.evaluates(s, words, opaqueBuiltins[words[0].text])
}

// evaluates is for a builtin that runs what cannot be known.
func (a *analysis) evaluates(s *shell, words []word, why string) *shell {
	a.unknown(why)
	a.noteRun(words, permission.RiskOpaque, why)
	s.forgetAll()
	return nil
}

func harmless(a *analysis, _ *shell, words []word, _ manner) *shell {
	a.noteRun(words, permission.RiskReadOnly, "")
	return nil
}

// allKnown reports whether words are exactly what they show.
func allKnown(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return w.unknown || w.pattern })
}

func changeDir(a *analysis, s *shell, words []word, _ manner) *shell {
	a.noteRun(words, permission.RiskReadOnly, "")
	return s.enter(a.target(s, words[1:]))
}

// target is where cd leads, nothing where that cannot be known.
func (a *analysis) target(s *shell, args []word) []string {
	physical := false
	for len(args) > 0 && (args[0].text == "-L" || args[0].text == "-P" || args[0].text == "-e" || args[0].text == "--") {
		physical = physical || args[0].text == "-P"
		args = args[1:]
	}
	home := a.get(s, "HOME")
	_, searched := s.vars["CDPATH"]
	_, given := a.at.Env["CDPATH"]
	if searched || given {
		a.unknown("CDPATH changes where cd leads, which air's shell does not know")
	}
	switch {
	case len(args) == 0 && home.kind == textValue:
		return s.to(home.text)
	case len(args) != 1 || !allKnown(args) || args[0].text == "":
		return nil
	case args[0].text == "-":
		return s.back
	case args[0].text[0] == '-', physical && strings.Contains(args[0].text, ".."), searched || given:
		return nil
	}
	return s.to(args[0].text)
}

func pushDir(a *analysis, s *shell, words []word, _ manner) *shell {
	a.noteRun(words, permission.RiskReadOnly, "")
	if len(words) != 2 || !allKnown(words) || strings.ContainsAny(words[1].text[:min(1, len(words[1].text))], "-+") {
		onFail := s.enter(nil)
		s.stack = nil
		return onFail
	}
	onFail := s.enter(a.target(s, words[1:]))
	s.stack = append(slices.Clone(s.stack), s.back)
	return onFail
}

func popDir(a *analysis, s *shell, words []word, _ manner) *shell {
	a.noteRun(words, permission.RiskReadOnly, "")
	if len(words) > 1 || len(s.stack) == 0 {
		onFail := s.enter(nil)
		s.stack = nil
		return onFail
	}
	top := len(s.stack) - 1
	onFail := s.enter(s.stack[top])
	s.stack = slices.Clone(s.stack[:top])
	return onFail
}

// runPlain is command and builtin: what they run is no function.
func runPlain(a *analysis, s *shell, words []word, how manner) *shell {
	a.noteRun(words, permission.RiskReadOnly, "")
	rest := words[1:]
	for len(rest) > 0 && !rest[0].unknown && strings.HasPrefix(rest[0].text, "-") {
		if rest[0].text == "--" {
			rest = rest[1:]
			break
		}
		if strings.ContainsAny(rest[0].text, "vV") {
			return nil
		}
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return nil
	}
	how.plain = true
	return a.run(s, rest, how)
}

// runInstead is exec. Without words its redirections stay, for all that follows.
func runInstead(a *analysis, s *shell, words []word, how manner) *shell {
	p := (&reader{options: spec("a= c l").options(), stop: true, args: words[1:]}).read()
	if len(p.operands) == 0 || len(p.strange)+len(p.chance) > 0 {
		return a.evaluates(s, words, "an exec without a program, or with an option that air does not know, changes everything after it")
	}
	a.noteRun(words, permission.RiskReadOnly, "")
	a.external(s, p.operands, how)
	return nil
}

// leave is exit and return. With a word that is no number some shells go on.
func leave(a *analysis, s *shell, words []word, _ manner) *shell {
	a.noteRun(words, permission.RiskReadOnly, "")
	certain := len(words) == 1 || len(words) == 2 && (words[1].text == "$?" || !words[1].unknown && isDecimal(words[1].text))
	if words[0].text == "return" && !s.inFunc {
		certain = false
	}
	s.dead = s.dead || certain
	return nil
}

// Options of a shell that do not change how it reads what follows, or what a pattern
// stands for: letters, names for set -o, and names for shopt.
const (
	plainFlags = "euxfvnbhmCET"
	setNames   = "errexit nounset pipefail xtrace verbose noglob noexec noclobber errtrace functrace monitor notify hashall"
	shoptNames = "nullglob globstar nocaseglob extglob failglob inherit_errexit lastpipe nocasematch"
	// ownShoptNames are those that air's shell knows.
	ownShoptNames = "nullglob globstar nocaseglob"
)

// plainLetters reports whether the letters of an option are plain, or among more. It
// returns the words after those that -o and -O take.
func plainLetters(letters, more string, args []word) (rest []word, ok bool) {
	for _, letter := range letters {
		names := setNames
		switch {
		case letter == 'o':
		case letter == 'O' && strings.Contains(more, "O"):
			names = shoptNames
		case strings.ContainsRune(plainFlags+more, letter):
			continue
		default:
			return args, false
		}
		if len(args) > 0 {
			if !allKnown(args[:1]) || !oneOf(args[0].text, names) {
				return args, false
			}
			args = args[1:]
		}
	}
	return args, true
}

// setOptions is set. Options that change how text is read make what follows unknown.
func setOptions(a *analysis, s *shell, words []word, _ manner) *shell {
	operands, given, ok := setWords(words[1:])
	if !ok || s.asks && lacksOption(words[1:len(words)-len(operands)]) {
		return a.evaluates(s, words, "this set changes how the shell reads what follows")
	}
	a.noteRun(words, permission.RiskReadOnly, "")
	if given {
		s.params, s.hasParams = paramsOf(operands)
	}
	return nil
}

// lacksOption reports whether air's shell does not have an option of set.
func lacksOption(args []word) bool {
	return len(args) == 0 || slices.ContainsFunc(args, func(w word) bool {
		return strings.HasPrefix(w.text, "-") && w.text != "--" && strings.ContainsAny(w.text, "vC") || oneOf(w.text, "verbose noclobber")
	})
}

func setWords(args []word) (operands []word, given, ok bool) {
	for len(args) > 0 {
		w := args[0]
		if w.unknown || w.pattern {
			return args, true, false
		}
		switch {
		case w.text == "--" || w.text == "-":
			return args[1:], w.text == "--" || len(args) > 1, true
		case w.text == "" || w.text[0] != '-' && w.text[0] != '+':
			return args, true, true
		}
		if args, ok = plainLetters(w.text[1:], "", args[1:]); !ok {
			return nil, false, false
		}
	}
	return nil, false, true
}

func shiftParams(a *analysis, s *shell, words []word, _ manner) *shell {
	a.noteRun(words, permission.RiskReadOnly, "")
	if len(words) == 1 && s.hasParams && len(s.params) > 0 {
		s.params = s.params[1:]
	} else {
		s.params, s.hasParams = nil, false
	}
	return nil
}

func unsetNames(a *analysis, s *shell, words []word, _ manner) *shell {
	rest := words[1:]
	for len(rest) > 0 && (rest[0].text == "-v" || rest[0].text == "-f") {
		rest = rest[1:]
	}
	for _, w := range rest {
		if w.unknown || w.pattern || !syntax.ValidName(w.text) {
			return a.evaluates(s, words, "bash evaluates the names that unset is given")
		}
	}
	a.noteRun(words, permission.RiskReadOnly, "")
	for _, w := range rest {
		a.assign(s, w.text, value{})
		if _, ok := s.funcs[w.text]; ok {
			s.setFunc(w.text, nil)
		}
	}
	return nil
}

// shellOptions is shopt.
func shellOptions(a *analysis, s *shell, words []word, _ manner) *shell {
	known := "-s -u -q -p -o " + shoptNames + " " + setNames
	if s.asks {
		known = "-s -u " + ownShoptNames
	}
	for _, w := range words[1:] {
		if w.unknown || w.pattern || !oneOf(w.text, known) {
			return a.evaluates(s, words, "this shopt changes how the shell reads what follows")
		}
	}
	a.noteRun(words, permission.RiskReadOnly, "")
	return nil
}

// trapSignals is trap. Text for the end of the shell is followed as what runs after
// anything; nobody but the command line itself sends its shell other signals.
func trapSignals(a *analysis, s *shell, words []word, _ manner) *shell {
	args := words[1:]
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if !allKnown(args) || len(args) < 2 || strings.HasPrefix(args[0].text, "-") && args[0].text != "-" {
		return a.evaluates(s, words, "trap runs text when something happens")
	}
	for _, w := range args[1:] {
		if !oneOf(strings.TrimPrefix(strings.ToUpper(w.text), "SIG"), "EXIT 0 INT TERM HUP QUIT 2 15 1 3") {
			return a.evaluates(s, words, "trap runs text when something happens")
		}
	}
	if text := args[0].text; text != "" && text != "-" && !a.atEnd(s, text) {
		return a.evaluates(s, words, "trap runs text that cannot be followed")
	}
	a.noteRun(words, permission.RiskReadOnly, "")
	return nil
}

// atEnd follows text that runs at the end of the shell. Names of commands in it are plain.
func (a *analysis) atEnd(s *shell, text string) bool {
	file, err := parseText(text, bash)
	if !s.asks || err != nil || checkSize(file) != nil || Unsupported(file) != "" || !a.step() {
		return false
	}
	plain := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			plain = plain && (len(n.Args) == 0 || n.Args[0].Lit() != "" && !strings.Contains(n.Args[0].Lit(), `\\`))
		case *syntax.Assign, *syntax.TimeClause, *syntax.CaseClause, *syntax.TestClause, *syntax.FuncDecl:
			plain = false
		}
		return true
	})
	if !plain || s.running != nil {
		return false
	}
	end := s.clone()
	end.source = text
	funcs := end.funcs
	end.forgetAll()
	end.funcs, end.ownFuncs = funcs, false
	a.stmts(end, file.Stmts)
	return true
}

func getOptions(a *analysis, s *shell, words []word, _ manner) *shell {
	if len(words) < 3 || !allKnown(words[1:3]) || !syntax.ValidName(words[2].text) {
		return a.evaluates(s, words, "bash evaluates the name that getopts is given")
	}
	a.noteRun(words, permission.RiskReadOnly, "")
	a.assign(s, words[2].text, value{})
	return nil
}

// readLines is mapfile.
func readLines(a *analysis, s *shell, words []word, _ manner) *shell {
	args := words[1:]
	if len(args) > 0 && args[0].text == "-t" {
		args = args[1:]
	}
	if len(args) > 1 || !allKnown(args) || len(args) == 1 && !syntax.ValidName(args[0].text) {
		return a.evaluates(s, words, "mapfile may run text, and evaluates names")
	}
	a.noteRun(words, permission.RiskReadOnly, "")
	if len(args) == 1 {
		a.assign(s, args[0].text, value{})
	}
	return nil
}

// evaluating is for builtins of which bash evaluates a word after -v: printf, test, [.
func evaluating(a *analysis, s *shell, words []word, how manner) *shell {
	if s.asks && len(words) > 2 && words[0].text == "printf" && words[1].text == "-v" && allKnown(words[1:3]) && syntax.ValidName(words[2].text) {
		a.noteRun(words, permission.RiskReadOnly, "")
		a.assign(s, words[2].text, value{})
		return nil
	}
	why := "bash evaluates the name that " + words[0].text + " -v is given"
	for i, w := range words[1:] {
		first := i == 0 || words[0].text != "printf"
		switch {
		case !first || !w.unknown && !w.pattern && !strings.HasPrefix(w.text, "-v") && w.text != "-R":
		case !w.unknown && !w.pattern, w.many, w.pattern && w.mayBeOption():
			return a.evaluates(s, words, why)
		case startsUnknown(w.text) && (words[0].text == "printf" || isPair(words)):
			return a.evaluates(s, words, why)
		}
	}
	a.noteRun(words, permission.RiskReadOnly, "")
	return nil
}

// isPair reports whether test is given two words, so that the first is its operator.
func isPair(words []word) bool {
	args := words[1:]
	if words[0].text == "[" && len(args) > 0 {
		args = args[:len(args)-1]
	}
	for len(args) > 0 && args[0].text == "!" {
		args = args[1:]
	}
	return len(args) == 2 && args[0].unknown
}

// startsUnknown reports whether a word as it is written may become one that begins with -.
func startsUnknown(written string) bool {
	written = strings.TrimLeft(written, `"`)
	return written == "" || strings.ContainsAny(written[:1], "$`-\\'")
}

// withOption is for builtins that are harmless but for one option: wait -p and hash -p.
func withOption(a *analysis, s *shell, words []word, how manner) *shell {
	if s.asks && words[0].text == "wait" { // which refuses an option when it comes to it
		if slices.ContainsFunc(words[1:], func(w word) bool { return strings.HasPrefix(w.text, "-") }) {
			return a.evaluates(s, words, "air's shell does not know the options of wait")
		}
		return harmless(a, s, words, how)
	}
	for _, w := range words[1:] {
		if w.unknown && startsUnknown(w.text) || w.pattern && w.mayBeOption() || strings.HasPrefix(w.text, "-") && strings.Contains(w.text, "p") {
			return a.evaluates(s, words, words[0].text+" -p runs a command, or changes what names stand for")
		}
	}
	return harmless(a, s, words, how)
}

// asProgram is for a builtin that does what the program of its name does.
func asProgram(a *analysis, s *shell, words []word, how manner) *shell {
	a.external(s, words, how)
	return nil
}

// readWords is read, with the plain names of variables.
func readWords(a *analysis, s *shell, words []word, _ manner) *shell {
	p := (&reader{options: spec("r s e a= d= n= N= p=").options(), args: words[1:]}).read()
	names := p.operands
	if array, ok := p.value("a"); ok {
		names = append(names, array)
	}
	for _, w := range names {
		if w.unknown || w.pattern || !syntax.ValidName(w.text) {
			p.strange = append(p.strange, w)
		}
	}
	if len(p.strange)+len(p.chance) > 0 || !allKnown(words) {
		return a.evaluates(s, words, "bash evaluates the names that read is given")
	}
	a.noteRun(words, permission.RiskReadOnly, "")
	for _, w := range append(names, word{text: "REPLY"}) {
		a.assign(s, w.text, value{})
	}
	return nil
}
