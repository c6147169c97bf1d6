package command

import (
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// runShell is bash, sh and the like: with text, a file, or what they read.
func runShell(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
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
		text := shellText{innerText: innerText{text: o.rest[0], dir: c.dir}, bash: name == "bash" || name == "rbash", params: append([]word{}, o.rest[1:]...)}
		f.shells = append(f.shells, text)
	case o.text:
	case !o.stdin && len(o.rest) > 0:
		f.runsFile(o.rest[0])
	default:
		f.stdin = true
	}
}

// runsFile is for a program that runs a file as code.
func (f *finding) runsFile(file word) {
	if file.unknown || file.pattern {
		f.raise(permission.RiskOpaque, "which file "+file.text+" stands for cannot be known before it runs")
		return
	}
	f.raise(permission.RiskWorkspace, "it runs "+file.text+", a file of the project")
	f.script = file.text
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
		if args, ok = o.letters(w.text[1:], args); !ok {
			return o, false
		}
	}
	o.rest = args
	if len(args) > 0 && args[0].text == "-" && !o.text {
		o.rest, o.stdin = args[1:], len(args) == 1
	}
	return o, true
}

func (o *shellOption) letters(letters string, args []word) ([]word, bool) {
	for _, letter := range letters {
		switch {
		case letter == 'c':
			o.text = true
		case letter == 's':
			o.stdin = true
		case letter == 'l':
		case letter == 'o' || letter == 'O':
			if len(args) == 0 || args[0].unknown || letter == 'o' && !strings.Contains(plainOptions, " "+args[0].text+" ") ||
				letter == 'O' && !strings.Contains(" nullglob dotglob globstar nocaseglob failglob inherit_errexit lastpipe nocasematch ", " "+args[0].text+" ") {
				return args, false
			}
			args = args[1:]
		case !strings.ContainsRune(plainFlags, letter):
			return args, false
		}
	}
	return args, true
}

// otherShell is for shells whose language air does not know: it knows that they run a
// file.
func otherShell(c *simple, f *finding) {
	f.raise(permission.RiskReadOnly, "")
	args := c.args()
	if len(args) == 1 && args[0].text == "--version" {
		return
	}
	if len(args) > 0 && !args[0].mayBeOption() {
		f.runsFile(args[0])
		return
	}
	f.raise(permission.RiskOpaque, "air does not know the language of "+base(c.name()))
}
