package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/aircoding/air/runtime/permission"
)

// call follows a simple command: assignments, or words with assignments that hold for
// them only.
func (a *analysis) call(s *shell, c *syntax.CallExpr, stdin value) (onFail *shell) {
	words := a.fields(s, c.Args)
	if len(words) == 0 {
		for _, as := range c.Assigns {
			a.assignment(s, as)
		}
		return nil
	}
	if len(c.Assigns) == 0 {
		return a.run(s, words, manner{stdin: stdin})
	}
	before := s.clone()
	for _, as := range c.Assigns {
		a.assignment(s, as)
	}
	onFail = a.run(s, words, manner{stdin: stdin})
	stays := staysSet(before, words)
	for _, as := range c.Assigns {
		s.restore(as.Name.Value, before, stays)
		if onFail != nil {
			onFail.restore(as.Name.Value, before, stays)
		}
	}
	s.split = s.split && (before.split || stays)
	return onFail
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
}

func (a *analysis) run(s *shell, words []word, how manner) (onFail *shell) {
	name := words[0]
	if name.unknown || name.pattern {
		a.unknown("which program " + name.text + " stands for cannot be known before it runs")
		a.ran(words, permission.RiskOpaque, "which program "+name.text+" stands for cannot be known before it runs")
		s.forgetAll()
		return nil
	}
	if _, declared := s.funcs[name.text]; declared && !how.plain {
		a.steps += 5
		a.callFunc(s, words)
		return nil
	}
	if b := builtinFor(name.text); b != nil {
		return b(a, s, words, how)
	}
	a.external(s, words, how)
	return nil
}

// external is a program, in each folder where it may run.
func (a *analysis) external(s *shell, words []word, how manner) {
	k := calling{shell: s, stdin: how.stdin}
	if len(s.dirs) == 0 {
		a.simple(&simple{words: words}, k)
	}
	for _, dir := range s.dirs {
		a.simple(&simple{words: words, dir: dir}, k)
	}
}

// calling is what a program gets from where it is run.
type calling struct {
	shell *shell
	stdin value
	sets  []string // variables that it finds changed
}

// simple notes what a program does, and follows what it runs in its turn.
func (a *analysis) simple(c *simple, k calling) {
	if a.wraps >= maxWraps || !a.step() {
		a.unknown("too many programs run each other")
		return
	}
	a.wraps++
	defer func() { a.wraps-- }()
	f := a.find(c)
	if f.stdin && k.stdin.kind != textValue {
		f.raise(permission.RiskOpaque, base(c.name())+" runs what it reads, which cannot be known before it runs")
		a.unknown(f.why)
	}
	a.checkWords(c, &f)
	a.checkFolder(c, &f)
	a.note(c, &f)
	k.sets = slices.Concat(k.sets, f.sets)
	for _, inner := range f.inner {
		if len(inner.words) > 0 {
			a.simple(&inner, k)
		}
	}
	for _, t := range f.text {
		a.shellText(shellText{innerText: t}, k)
	}
	for _, t := range f.shells {
		a.shellText(t, k)
	}
	if f.stdin && k.stdin.kind == textValue {
		a.shellText(shellText{innerText: innerText{text: word{text: k.stdin.text}, dir: c.dir}, bash: base(c.name()) == "bash"}, k)
	}
}

// find asks what is known of a program.
func (a *analysis) find(c *simple) finding {
	var f finding
	name := c.words[0]
	switch {
	case name.unknown || name.pattern || name.text == "":
		f.raise(permission.RiskOpaque, "which program "+name.text+" stands for cannot be known before it runs")
		a.unknown(f.why)
	case strings.Contains(name.text, "/") && !systemFolders[path.Dir(name.text)]:
		a.findFile(c, &f)
	default:
		if !findNamed(c, &f) {
			f.raise(permission.RiskOpaque, "air does not know what "+base(name.text)+" does")
		}
	}
	f.raise(permission.RiskReadOnly, "")
	return f
}

func findNamed(c *simple, f *finding) bool {
	p, ok := wrappers[base(c.name())]
	if !ok {
		p, ok = programFor(base(c.name()))
	}
	if ok {
		p(c, f)
	}
	return ok
}

// systemFolders are those whose programs are the ones that air knows by name.
var systemFolders = set("/bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /usr/local/go/bin /opt/homebrew/bin")

// findFile is for a program that is named by its path: it is a file of the project, or
// air does not know it. One with the name of a program that air knows may do what that
// does.
func (a *analysis) findFile(c *simple, f *finding) {
	findNamed(c, f)
	f.raise(permission.RiskWorkspace, "it runs "+c.name()+", a file of the project")
	f.script = c.name()
}

// checkWords raises the risk where a word cannot be known that the program does not take
// as it comes.
func (a *analysis) checkWords(c *simple, f *finding) {
	if f.anyWords {
		return
	}
	for _, w := range c.args() {
		if w.unknown {
			f.raise(permission.RiskOpaque, "what "+w.text+" stands for cannot be known before it runs")
			a.unknown("what " + w.text + " stands for cannot be known before it runs")
			return
		}
	}
}

// checkFolder raises the risk where a program works in a folder that is not the
// project's, or runs a file from there.
func (a *analysis) checkFolder(c *simple, f *finding) {
	if f.script != "" {
		f.script = a.checkScript(c, f)
	}
	for _, e := range f.effects {
		if c.dir == "" && e.Kind.IsPath() && !path.IsAbs(e.Target) {
			f.raise(permission.RiskOpaque, "in which folder "+base(c.name())+" runs cannot be known")
			a.unknown("in which folder " + c.name() + " runs cannot be known before it runs")
			return
		}
	}
	if rank(f.risk) < rank(permission.RiskWorkspace) || f.anyWords && len(f.inner)+len(f.text)+len(f.shells) > 0 {
		return
	}
	switch {
	case c.dir == "":
		f.raise(permission.RiskOpaque, "in which folder "+base(c.name())+" runs cannot be known")
		a.unknown("in which folder " + c.name() + " runs cannot be known before it runs")
	case !a.inProject(c.dir):
		f.effects = append(f.effects, permission.Effect{Kind: permission.Read, Target: c.dir, Recursive: true})
	}
}

// checkScript makes the path of a script absolute, "" where that is not possible.
func (a *analysis) checkScript(c *simple, f *finding) string {
	if c.dir == "" && !path.IsAbs(f.script) {
		f.raise(permission.RiskOpaque, "which file "+f.script+" is cannot be known before it runs")
		a.unknown("which file " + f.script + " is cannot be known before it runs")
		return ""
	}
	script := absolute(c.dir, f.script)
	if !a.inProject(script) {
		f.raise(permission.RiskOpaque, "it runs "+f.script+", a file that lies outside the project")
	}
	f.effects = append(f.effects, permission.Effect{Kind: permission.Read, Target: script})
	return script
}

func (a *analysis) inProject(name string) bool {
	root, name := path.Clean(a.at.root()), path.Clean(name)
	return name == root || strings.HasPrefix(name, strings.TrimSuffix(root, "/")+"/")
}

// plainReasons are for programs of which the table gives no reason of their own.
var plainReasons = map[permission.Risk]string{
	permission.RiskWorkspace: "it changes files of the project, or runs its code", permission.RiskNetwork: "it needs the network",
	permission.RiskDestructive: "it loses what nothing brings back", permission.RiskPrivileged: "it reaches beyond the project", permission.RiskOpaque: "what it does cannot be known before it runs",
}

// note adds the effects of a program: that it runs, then what it does.
func (a *analysis) note(c *simple, f *finding) {
	e := permission.Effect{Kind: permission.Run, Target: argvOf(c.words), Risk: f.risk, Why: f.why, Script: f.script}
	if e.Why == "" {
		e.Why = plainReasons[e.Risk]
	}
	plain := f.plain
	if plain == nil && strings.Contains(c.name(), "/") {
		plain = append(plain, base(c.name()))
		for _, w := range c.args() {
			plain = append(plain, w.text)
		}
	}
	if also := permission.JoinArgv(plain); also != e.Target {
		e.Also = also
	}
	a.add(e)
	for _, e := range f.effects {
		if e.Kind.IsPath() {
			a.addPath(e, c.dir)
			continue
		}
		a.add(e)
	}
	for _, name := range f.sets {
		a.noteEnv(name, "…")
	}
}

// shellText follows text that a program hands to a shell. What every shell reads in its
// own way is followed as bash and as one that knows POSIX only.
func (a *analysis) shellText(t shellText, k calling) {
	switch {
	case t.text.unknown || t.text.pattern:
		a.unknown("which text a shell is given cannot be known before it runs")
		return
	case len(t.text.text) > maxText || hiddenIn(t.text.text) != "":
		a.unknown("the text that a shell is given is too long, or cannot be read")
		return
	}
	outer, outerPosix, outerRunning := a.source, a.posix, a.running
	a.source, a.running = t.text.text, nil
	defer func() { a.source, a.posix, a.running = outer, outerPosix, outerRunning }()
	for _, d := range []dialect{bash, posix} {
		if d == posix && t.bash {
			return
		}
		a.posix = d == posix
		file, err := parseText(t.text.text, d)
		if err != nil || checkSize(file) != nil {
			a.unknown("the text that a shell is given does not parse")
			return
		}
		a.stmts(a.innerShell(t, k), file.Stmts)
	}
}

// innerShell is a shell that is started as a program: it knows the variables that were
// exported, which here are those that nothing changed.
func (a *analysis) innerShell(t shellText, k calling) *shell {
	s := a.newShell(t.dir)
	s.wild = k.shell.wild
	for name := range k.shell.vars {
		if name != "IFS" {
			s.set(name, value{})
		}
	}
	if home, ok := k.shell.vars["HOME"]; ok {
		s.set("HOME", home)
	}
	for _, name := range k.sets {
		s.set(name, value{})
	}
	s.split = false
	if len(t.params) > 0 {
		s.params, s.hasParams = paramsOf(t.params[1:])
	} else {
		s.hasParams = t.params != nil
	}
	return s
}
