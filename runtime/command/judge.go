package command

import (
	"path"
	"slices"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// caller is what a program gets from where it is run.
type caller struct {
	shell  *shell
	stdin  value
	heard  bool      // what it reads is followed elsewhere
	place  hearing   // of the program that the shell itself starts
	sets   []setting // variables that it finds changed
	clears bool      // it has no variables of those before it
}

// follow notes what a program does, and follows what it runs in its turn.
func (a *analysis) follow(c *simple, k caller) {
	if a.wraps >= maxWraps || !a.step() {
		a.unknown("too many programs run each other")
		return
	}
	a.wraps++
	defer func() { a.wraps-- }()
	f := a.find(c)
	if f.stdin && k.stdin.kind != textValue && !k.heard {
		a.unknownProgram(&f, notKnown("what "+base(c.name())+" reads and runs"))
	}
	a.checkWords(c, &f)
	if a.deferred > 0 {
		a.atLeast(c, &f)
	}
	a.checkFolder(c, &f)
	a.note(c, &f, k.shell.again)
	if f.clears {
		k.sets, k.clears = nil, true
	}
	k.sets = slices.Concat(k.sets, f.sets)
	for _, inner := range f.inner {
		if len(inner.words) > 0 {
			a.follow(&inner, k)
		}
	}
	for _, t := range f.texts {
		a.shellText(t, k)
	}
	if f.stdin && k.stdin.kind == textValue {
		if k.shell.asks && a.deferred == 0 {
			mark(&a.line.heard, k.place)
		}
		a.shellText(shellText{text: word{text: k.stdin.text}, dir: c.dir, bash: base(c.name()) == "bash"}, k)
	}
}

// find asks what is known of a program.
func (a *analysis) find(c *simple) finding {
	var f finding
	name := c.words[0]
	switch {
	case name.unknown || name.pattern || name.text == "":
		a.unknownProgram(&f, notKnown("which program "+name.text+" stands for"))
	case strings.Contains(name.text, "/") && !systemFolders[path.Dir(name.text)]:
		a.findFile(c, &f)
	case a.at.Confined && killers[base(name.text)]:
		killsOwn(&f)
	case a.at.Confined && c.fed && onlyReaders[base(name.text)]:
		findFed(c, &f)
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
	if ok && !helps(c) {
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
		if w.unknown && !(w.pipe && oneOf(base(c.name()), "cat cmp comm diff head join paste tail wc")) {
			why := notKnown("what " + w.text + " stands for")
			if c.fed {
				why = notKnown("what xargs gives to " + base(c.name()))
				f.why = why
			}
			a.unknownProgram(f, why)
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
	if base(c.name()) == "git" && a.inProject(c.dir) { // most projects are one repository
		for i := range f.effects {
			if e := &f.effects[i]; strings.HasPrefix(e.Target, configFile) && e.Kind == permission.Write {
				e.Target = strings.TrimSuffix(a.at.Root, "/") + "/" + e.Target
			}
		}
	}
	for _, e := range f.effects {
		if c.dir == "" && e.Kind.IsPath() && !path.IsAbs(e.Target) {
			a.unknownProgram(f, notKnown("in which folder "+base(c.name())+" runs"))
			return
		}
	}
	if rank(f.risk) < rank(permission.RiskWorkspace) || f.anyWords && len(f.inner)+len(f.texts) > 0 {
		return
	}
	switch {
	case c.dir == "":
		a.unknownProgram(f, notKnown("in which folder "+base(c.name())+" runs"))
	case !a.inProject(c.dir):
		f.effects = append(f.effects, permission.Effect{Kind: permission.Read, Target: c.dir, Recursive: true})
	}
}

// checkScript makes the path of a script absolute, "" where that is not possible.
func (a *analysis) checkScript(c *simple, f *finding) string {
	if c.dir == "" && !path.IsAbs(f.script) {
		a.unknownProgram(f, notKnown("which file "+f.script+" is"))
		return ""
	}
	script := absolute(c.dir, f.script)
	if !a.inProject(script) {
		f.raise(permission.RiskOpaque, "it runs "+f.script+", a file that lies outside the project")
	}
	if a.at.isPrivate(script) {
		return ""
	}
	f.effects = append(f.effects, permission.Effect{Kind: permission.Read, Target: script})
	return script
}

func (a *analysis) inProject(name string) bool {
	root, name := path.Clean(a.at.Root), path.Clean(name)
	return a.at.Root != "" && (name == root || strings.HasPrefix(name, strings.TrimSuffix(root, "/")+"/"))
}

// plainReasons are for programs of which the table gives no reason of their own.
var plainReasons = map[permission.Risk]string{
	permission.RiskWorkspace: "it changes files of the project, or runs its code", permission.RiskNetwork: "it needs the network",
	permission.RiskDestructive: "it loses what nothing brings back", permission.RiskPrivileged: "it reaches beyond the project", permission.RiskOpaque: "what it does cannot be known before it runs",
}

// note adds the effects of a program: that it runs, then what it does. Again says that it is
// decided when it runs, too.
func (a *analysis) note(c *simple, f *finding, again bool) {
	e := permission.Effect{Kind: permission.Run, Target: argvOf(c.words), Risk: f.risk, Why: f.why, Hosts: f.hosts, Repository: f.repository, Script: f.script, Dir: c.dir, Again: f.script != "" && again}
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
	a.expands = a.expands || expanders[base(c.name())]
	by := a.noteNames(c, f)
	for _, e := range f.effects {
		if e.Kind.IsPath() {
			a.addPath(e, c.dir, by, worksByName(c))
			continue
		}
		a.add(e)
	}
	for _, v := range f.sets {
		if !v.gone {
			a.noteExport(v.name, v.value)
		}
	}
}
