package command

import (
	"strings"
	"sync"

	"github.com/aircoding/air/runtime/permission"
)

// spec names the options of a program in a short notation, separated by blanks:
//
//	v,verbose    an option without a value, by all of its names; the last one stands for it
//	n,lines=     one with a value
//	color=?      one with a value only in the same word: --color=always, -i.bak
//	f,file=<     the value is a file that it reads
//	d,dir=<<     a folder that it reads, with all below it
//	o,output=>   a file that it writes
//	o,output=+   a file that it builds
//	C=%          the folder in which it works
//	x,exec=$     a command line that it gives to a shell
//	c,eval=!     a value that may do anything
//	ext-diff!    an option that may do anything
//	env==        the value is NAME=value, a variable for what it runs
//	timing=?>    marks of values go together with that of the same word
//	data=@       @ # & and *: what the program itself makes of the value
type spec string

// option is what a spec says about one option.
type option struct {
	name  string
	value byte   // 0: none, '=': one, '?': one in the same word
	use   string // what its value is, one of the uses
}

// options are those of a spec, by all of their names. They are not changed: a spec is
// read once.
func (s spec) options() map[string]option {
	if known, ok := specs.Load(s); ok {
		return known.(map[string]option)
	}
	known, _ := specs.LoadOrStore(s, s.read())
	return known.(map[string]option)
}

var specs sync.Map // of spec to map[string]option

// uses are the marks that say what a value is.
const uses = "< << > + $ ! = % @ # & *"

func (s spec) read() map[string]option {
	options := map[string]option{}
	for _, token := range strings.Fields(string(s)) {
		end := strings.IndexAny(token, "=!")
		var o option
		if end < 0 {
			end = len(token)
		} else if token[end] == '=' {
			o.value, o.use = '=', token[end+1:]
		} else {
			o.use = token[end:]
		}
		if strings.Trim(o.use, "?") != "" && !oneOf(strings.TrimPrefix(o.use, "?"), uses) {
			o.use = "!" // a mark that nobody knows
		}
		if use, ok := strings.CutPrefix(o.use, "?"); ok {
			o.value, o.use = '?', use
		}
		names := strings.Split(token[:end], ",")
		o.name = names[len(names)-1]
		for _, name := range names {
			options[name] = o
		}
	}
	return options
}

// arguments are those of a program whose options are known.
type arguments struct {
	parsed
	uses    []use  // of options
	strange []word // words with an option that the spec does not name
	chance  []word // patterns that may match a file which would be taken for an option
	dashes  int    // how many operands stand before "--", -1 where there is none
}

// parsed are the arguments of a program, told apart.
type parsed struct {
	flags    []flag
	operands []word
}

// flag is an option, by its name without dashes.
type flag struct {
	name  string
	value word
}

func (p *parsed) has(names ...string) bool {
	for _, n := range names {
		if _, ok := p.value(n); ok {
			return true
		}
	}
	return false
}

// value returns the last value of an option.
func (p *parsed) value(name string) (w word, ok bool) {
	for _, f := range p.flags {
		if f.name == name {
			w, ok = f.value, true
		}
	}
	return w, ok
}

// use is an option that is more than a switch.
type use struct {
	option
	written word
	value   word
}

// reading is how the arguments of a program are read.
type reading uint8

const (
	single reading = 1 << iota // one dash begins a long option, as with find and java
	stop                       // the first operand ends the options
	named                      // a file name that looks like an option does no harm
	loose                      // nor does an option that the spec does not name
)

// parse reads the arguments of a program, raises the risk where an option is not known or
// a file name could be one, and adds what the known ones do.
func (f *finding) parse(c *simple, s spec, how reading) arguments {
	a := (&reader{options: s.options(), single: how&single != 0, stop: how&stop != 0, args: c.args()}).read()
	switch {
	case how&loose != 0:
	case how&named != 0:
		a.named(c, f)
	default:
		a.guard(c, f)
	}
	a.apply(c, f)
	return a
}

// reader tells options from operands.
type reader struct {
	options map[string]option
	single  bool // one dash begins a long option, as with find and java
	stop    bool // the first operand ends the options
	args    []word
	arguments
}

func (r *reader) read() arguments {
	r.dashes = -1
	for len(r.args) > 0 {
		w := r.args[0]
		r.args = r.args[1:]
		switch {
		case w.text == "--" && !w.unknown && !w.pattern:
			r.dashes = len(r.operands)
			r.operands = append(r.operands, r.args...)
			return r.arguments
		case w.unknown || w.text == "-" || w.pattern && !strings.HasPrefix(w.text, "-") || !strings.HasPrefix(w.text, "-"):
			if w.pattern && w.mayBeOption() {
				r.chance = append(r.chance, w)
			}
			r.operands = append(r.operands, w)
			if r.stop {
				r.operands = append(r.operands, r.args...)
				return r.arguments
			}
		case r.single || strings.HasPrefix(w.text, "--"):
			r.long(w)
		default:
			r.short(w)
		}
	}
	return r.arguments
}

func (r *reader) long(w word) {
	name, value, inline := strings.Cut(strings.TrimPrefix(w.text[1:], "-"), "=")
	o, known := r.options[name]
	switch {
	case len(name) == 1 && !r.single:
		known = false
		r.strange = append(r.strange, w)
	case !known && !r.single:
		o, known = r.shortened(name)
		r.strange = append(r.strange, w)
	case !known && !isDigits(name):
		r.strange = append(r.strange, w)
	}
	if !known {
		r.flags = append(r.flags, flag{name: name, value: word{text: value}})
		return
	}
	v := word{text: value, pattern: w.pattern && inline}
	if !inline && o.value == '=' {
		v = r.next()
	}
	r.add(o, w, v)
}

// shortened is the option whose long name begins so, where it is the only one. As another
// program may know the name itself, the word stays strange.
func (r *reader) shortened(name string) (found option, ok bool) {
	if len(name) < 2 {
		return found, false
	}
	for long, o := range r.options {
		if len(long) > 1 && strings.HasPrefix(long, name) {
			if ok && o != found {
				return option{}, false
			}
			found, ok = o, true
		}
	}
	return found, ok
}

func (r *reader) short(w word) {
	letters := w.text[1:]
	if isDigits(letters) && r.options[letters[:1]].value == 0 {
		r.flags = append(r.flags, flag{name: letters})
		return
	}
	for i := range len(letters) {
		o, known := r.options[letters[i:i+1]]
		rest := word{text: letters[i+1:], pattern: w.pattern}
		switch {
		case !known:
			r.strange = append(r.strange, w)
			r.flags = append(r.flags, flag{name: letters[i : i+1]})
			continue
		case o.value == 0:
			r.add(o, w, word{})
			continue
		case o.value == '=' && rest.text == "":
			rest = r.next()
		}
		r.add(o, w, rest)
		return
	}
}

func (r *reader) add(o option, written, value word) {
	r.flags = append(r.flags, flag{name: o.name, value: value})
	if o.use != "" {
		r.uses = append(r.uses, use{o, written, value})
	}
}

// next is the value of an option in a word of its own.
func (r *reader) next() word {
	if len(r.args) == 0 {
		return word{}
	}
	w := r.args[0]
	r.args = r.args[1:]
	if w.pattern && w.mayBeOption() { // it may be several words
		r.chance = append(r.chance, w)
	}
	return w
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// apply adds what the options do, but for the folder in which the program works.
func (a *arguments) apply(c *simple, f *finding) {
	for _, u := range a.uses {
		switch u.use {
		case "<":
			f.readFile(u.value)
		case "<<":
			f.readTree(u.value)
		case ">":
			f.writeFile(u.value)
		case "+":
			f.artifact(u.value)
		case "$":
			f.runText(u.value, c.dir)
			f.raise(permission.RiskWorkspace, "it runs another command")
		case "=":
			if !f.setting(u.value) {
				f.sets = append(f.sets, setting{name: u.value.text})
			}
		case "!":
			f.raise(permission.RiskOpaque, "what the option "+dashed(u.name)+" of "+base(c.name())+" does cannot be known before it runs")
		}
	}
}

// named raises the risk where an option is not known.
func (a *arguments) named(c *simple, f *finding) {
	if len(a.strange) > 0 {
		f.raise(permission.RiskOpaque, "air does not know the option "+a.strange[0].text+" of "+base(c.name()))
	}
}

// guard raises the risk where an option is not known, or a file name could be one.
func (a *arguments) guard(c *simple, f *finding) {
	a.named(c, f)
	if len(a.chance) > 0 {
		w := a.chance[0].text
		f.raise(permission.RiskOpaque, "a file whose name begins with - would be an option of "+base(c.name())+": write ./"+w+" instead of "+w)
	}
}

// folder is the folder in which the options make the program work, "" for its own.
func (a *arguments) folder() (w word, ok bool) {
	for _, u := range a.uses {
		if u.use == "%" {
			w, ok = under(w, u.value), true
		}
	}
	return w, ok
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// oneOf reports whether text is one of the names, which are separated by blanks.
func oneOf(text, names string) bool {
	for name := range strings.FieldsSeq(names) {
		if name == text {
			return true
		}
	}
	return false
}
