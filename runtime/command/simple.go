package command

import (
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// word is one word of a command, expanded as far as that is possible before it runs.
type word struct {
	text    string // its value; of a pattern the pattern, of an unknown word how it is written
	pattern bool   // stands for the names that the pattern matches, or for itself where none does
	unknown bool   // what it stands for is only known when the command runs
	many    bool   // an unknown word that may turn out to be none or several
}

// mayBeOption reports whether the word may stand for an option: it is one, cannot be
// known, or is a pattern that may match a file with the name of one.
func (w word) mayBeOption() bool {
	return w.unknown || strings.HasPrefix(w.text, "-") || w.pattern && strings.ContainsAny(w.text[:1], "*?[")
}

// simple is a simple command: a program with its arguments and where it runs.
type simple struct {
	words []word // the program's name first; never empty
	dir   string // absolute; "" when it is not known
}

func (c *simple) name() string { return c.words[0].text }
func (c *simple) args() []word { return c.words[1:] }

// finding is what is known of a simple command.
type finding struct {
	risk permission.Risk
	why  string // in words, where the risk is more than read-only
	// anyWords says that the program does no more whatever its arguments are: words that
	// cannot be known do not matter.
	anyWords bool
	effects  []permission.Effect // besides running it; paths are relative to the command's folder or absolute
	script   string              // a file that it executes as code, as the command names it
	plain    []string            // the words in their plainest form, where that is another one
	inner    []simple            // commands that it runs
	text     []innerText         // shell text that it runs with sh
	shells   []shellText         // shell text of which more is known
	stdin    bool                // runs its standard input as shell text
	sets     []string            // variables that it sets for what it runs
}

// shellText is the text of a shell that is run by name.
type shellText struct {
	innerText
	bash   bool   // read by bash, else by any shell
	params []word // $0, $1 and so on
}

// innerText is text that a command hands to a shell.
type innerText struct {
	text word
	dir  string
}

// raise makes the risk at least this one. Of equal ones the first reason stays.
func (f *finding) raise(risk permission.Risk, why string) {
	if rank(risk) > rank(f.risk) {
		f.risk, f.why = risk, why
	}
}

var ranks = []permission.Risk{
	"", permission.RiskReadOnly, permission.RiskWorkspace, permission.RiskNetwork,
	permission.RiskDestructive, permission.RiskPrivileged, permission.RiskOpaque,
}

func rank(risk permission.Risk) int {
	for i, r := range ranks {
		if r == risk {
			return i
		}
	}
	return len(ranks)
}

func (f *finding) read(w word)   { f.path(permission.Read, w) }
func (f *finding) write(w word)  { f.path(permission.Write, w) }
func (f *finding) remove(w word) { f.path(permission.Delete, w) }

// path adds an effect on what a word names: one path, or all that a pattern may match,
// which is decided as the folder before the pattern with what lies below it.
func (f *finding) path(kind permission.Kind, w word) {
	if w.unknown {
		f.raise(permission.RiskOpaque, "which path "+w.text+" stands for cannot be known before it runs")
		return
	}
	e := permission.Effect{Kind: kind, Target: w.text}
	if w.pattern {
		e.Target, e.Recursive, e.Below = patternFolder(w.text), true, true
	}
	f.effects = append(f.effects, e)
}

// patternFolder is the folder in which the matches of a pattern lie, at any depth.
func patternFolder(pattern string) string {
	first := strings.IndexAny(pattern, `*?[\`)
	slash := strings.LastIndexByte(pattern[:max(first, 0)], '/')
	switch {
	case slash < 0:
		return "."
	case slash == 0:
		return "/"
	}
	return pattern[:slash]
}

// program knows what one program does with its arguments.
type program func(c *simple, f *finding)

// options says which options of a program take a value.
type options struct {
	short string   // letters, such as "nC"
	long  []string // names without dashes, such as "max-count"
	// single is true where long options begin with one dash, as those of find and java.
	single bool
	// stop ends the options at the first operand, as for programs that run another one.
	stop bool
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

// parse tells options from operands as getopt_long does, with options anywhere. A long
// option may be shortened to what no other named one begins with.
func (o options) parse(args []word) parsed {
	var p parsed
	for len(args) > 0 {
		w := args[0]
		args = args[1:]
		switch {
		case w.text == "--" && !w.unknown:
			p.operands = append(p.operands, args...)
			return p
		case w.unknown || w.text == "-" || !strings.HasPrefix(w.text, "-"):
			p.operands = append(p.operands, w)
			if o.stop {
				p.operands = append(p.operands, args...)
				return p
			}
		case strings.HasPrefix(w.text, "--") || o.single:
			args = o.parseLong(&p, w, args)
		default:
			args = o.parseShort(&p, w, args)
		}
	}
	return p
}

func (o options) parseLong(p *parsed, w word, rest []word) []word {
	name, value, inline := strings.Cut(strings.TrimLeft(w.text, "-"), "=")
	f := flag{name: name, value: word{text: value}}
	if !inline && o.takesValue(&f) && len(rest) > 0 {
		f.value, rest = rest[0], rest[1:]
	}
	p.flags = append(p.flags, f)
	return rest
}

// takesValue also spells a shortened name out.
func (o options) takesValue(f *flag) bool {
	for _, l := range o.long {
		if l == f.name || !o.single && len(f.name) > 2 && strings.HasPrefix(l, f.name) {
			f.name = l
			return true
		}
	}
	return false
}

func (o options) parseShort(p *parsed, w word, rest []word) []word {
	letters := w.text[1:]
	for i := range len(letters) {
		f := flag{name: letters[i : i+1]}
		if !strings.Contains(o.short, f.name) {
			p.flags = append(p.flags, f)
			continue
		}
		f.value = word{text: letters[i+1:]}
		if f.value.text == "" && len(rest) > 0 {
			f.value, rest = rest[0], rest[1:]
		}
		p.flags = append(p.flags, f)
		break
	}
	return rest
}
