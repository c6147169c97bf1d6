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
	pipe    bool   // an unknown word that names a pipe to another command
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
	fed   bool   // words of it are what xargs reads
}

func (c *simple) name() string { return c.words[0].text }
func (c *simple) args() []word { return c.words[1:] }

// finding is what is known of a simple command.
type finding struct {
	risk permission.Risk
	why  string // in words, where the risk is more than read-only
	// hosts says that the program needs hosts, whatever else it risks.
	hosts bool
	// repository says that the program changes a git repository.
	repository bool
	// anyWords says that the program does no more whatever its arguments are: words that
	// cannot be known do not matter.
	anyWords bool
	effects  []permission.Effect // besides running it; paths are relative to the command's folder or absolute
	script   string              // a file that it executes as code, as the command names it
	plain    []string            // the words in their plainest form, where that is another one
	inner    []simple            // commands that it runs
	texts    []shellText         // text that it runs with a shell
	stdin    bool                // runs its standard input as shell text
	sets     []setting           // variables that it sets for what it runs
	clears   bool                // what it runs does not have the variables of its caller
}

// setting is a variable that a program changes for what it runs.
type setting struct {
	name  string
	value value
	gone  bool // it is taken away
}

// raise makes the risk at least this one. Of equal ones the first reason stays.
func (f *finding) raise(risk permission.Risk, why string) {
	f.hosts = f.hosts || risk == permission.RiskNetwork
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

func (f *finding) read(w word) *permission.Effect   { return f.path(permission.Read, w) }
func (f *finding) write(w word) *permission.Effect  { return f.path(permission.Write, w) }
func (f *finding) remove(w word) *permission.Effect { return f.path(permission.Delete, w) }

// runText notes text that the program gives to a shell in dir, "" where that is not known.
func (f *finding) runText(text word, dir string) {
	f.texts = append(f.texts, shellText{text: text, dir: dir})
}

// path adds an effect on what a word names: one path, or all that a pattern may match,
// which is decided as the folder before the pattern with what lies below it. It returns
// the effect, to be changed before the next one is added; nil where none is known.
func (f *finding) path(kind permission.Kind, w word) *permission.Effect {
	switch {
	case w.pipe:
		return nil
	case w.unknown:
		f.raise(permission.RiskOpaque, notKnown("which path "+w.text+" stands for"))
		return nil
	}
	e := permission.Effect{Kind: kind, Target: w.text}
	if w.pattern {
		f.effects = append(f.effects, guarded(kind, w.text)...)
		e.Target, e.Recursive, e.Below = patternFolder(w.text), true, true
	}
	f.effects = append(f.effects, e)
	return &f.effects[len(f.effects)-1]
}

// program knows what one program does with its arguments.
type program func(c *simple, f *finding)
