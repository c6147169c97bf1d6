package command

import (
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// runShell is bash, sh and the like: with text, a file, or what they read.
func runShell(c *simple, f *finding) {
	o, ok := shellArgs(c.args())
	if !ok {
		f.raise(permission.RiskOpaque, "air does not know the options that "+base(c.name())+" is given")
		return
	}
	name := base(c.name())
	switch {
	case o.asked:
	case o.text && len(o.rest) > 0:
		f.anyWords = true
		text := shellText{text: o.rest[0], dir: c.dir, bash: oneOf(name, "bash rbash"), params: append([]word{}, o.rest[1:]...)}
		f.texts = append(f.texts, text)
	case o.text:
	case !o.stdin && len(o.rest) > 0:
		f.executes(o.rest[0])
	default:
		f.stdin = true
	}
}

type shellOption struct {
	text  bool // -c
	stdin bool // -s
	asked bool // --version or --help
	rest  []word
}

// shellArgs tells the options of a shell from the rest, and refuses those that change how
// it reads or what it reads first.
func shellArgs(args []word) (o shellOption, ok bool) {
	for len(args) > 0 {
		w := args[0]
		if w.unknown || w.pattern && w.mayBeOption() {
			return o, false
		}
		if len(w.text) < 2 || w.text[0] != '-' && w.text[0] != '+' || w.pattern {
			break
		}
		args = args[1:]
		if w.text == "--" {
			break
		}
		if strings.HasPrefix(w.text, "--") {
			switch w.text {
			case "--version", "--help":
				o.asked = true
			case "--norc", "--noprofile", "--login", "--posix":
			default:
				return o, false
			}
			continue
		}
		letters := w.text[1:]
		if args, ok = plainLetters(letters, "cslO", args); !ok {
			return o, false
		}
		o.text, o.stdin = o.text || strings.Contains(letters, "c"), o.stdin || strings.Contains(letters, "s")
	}
	o.rest = args
	if len(args) > 0 && args[0].text == "-" && !o.text {
		o.rest, o.stdin = args[1:], len(args) == 1
	}
	return o, true
}

// otherShell is for shells whose language air does not know: it knows that they run a
// file.
func otherShell(c *simple, f *finding) {
	args := c.args()
	if len(args) == 1 && args[0].text == "--version" {
		return
	}
	if len(args) > 0 && !args[0].mayBeOption() {
		f.executes(args[0])
		return
	}
	f.raise(permission.RiskOpaque, "air does not know the language of "+base(c.name()))
}

// shellText is text that a program gives to a shell.
type shellText struct {
	text   word
	dir    string // "" where it is not known
	bash   bool   // read by bash, else by any shell
	params []word // $0, $1 and so on
}

// shellText follows text that a program hands to a shell. What every shell reads in its
// own way is followed as bash and as one that knows POSIX only.
func (a *analysis) shellText(t shellText, k caller) {
	switch {
	case t.text.unknown || t.text.pattern:
		a.unknown("which text a shell is given cannot be known before it runs")
		return
	case checkText(t.text.text) != nil:
		a.unknown("the text that a shell is given is too long, or cannot be read")
		return
	}
	for _, d := range []dialect{bash, posix} {
		if d == posix && t.bash {
			return
		}
		file, err := parseText(t.text.text, d)
		if err != nil || checkSize(file) != nil {
			a.unknown("the text that a shell is given does not parse")
			return
		}
		s := innerShell(t, k)
		s.posix = d == posix
		a.stmts(s, file.Stmts)
	}
}

// innerShell is a shell that is started as a program: it knows the variables that were
// exported, which here are those that nothing changed.
func innerShell(t shellText, k caller) *shell {
	s := newShell(t.text.text, t.dir)
	s.wild = k.shell.wild || k.clears
	for name := range k.shell.vars {
		if name != "IFS" {
			s.set(name, value{})
		}
	}
	if home, ok := k.shell.vars["HOME"]; ok && !k.clears {
		s.set("HOME", home)
	}
	for _, v := range k.sets {
		switch {
		case numberVariables[v.name] || shellVariables[v.name] || v.name == "IFS": // the shell has its own
		case v.name == "PWD":
			s.set(v.name, value{})
		default:
			s.set(v.name, v.value)
		}
	}
	s.split = false
	if len(t.params) > 0 {
		s.params, s.hasParams = paramsOf(t.params[1:])
	} else {
		s.hasParams = t.params != nil
	}
	return s
}
