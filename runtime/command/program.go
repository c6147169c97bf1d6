package command

import (
	"maps"
	"slices"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// Program is one program that a shell is about to start, with the words that it has then.
type Program struct {
	Argv   []string // its name first; never empty
	Pipes  []int    // the places of words that name a pipe to another part of the command line
	Assign []string // NAME=VALUE that it finds changed in its environment
	Unset  []string // variables that it does not find any more
	// Heard says that what it reads was followed with the whole command line.
	Heard bool
}

// AnalyseProgram names the effects of a program as Analyse does of a command line. Words
// are bounded, but are no text that a person wrote, and may hold any bytes.
func AnalyseProgram(p Program, at Place) ([]permission.Effect, error) {
	a := &analysis{at: at}
	a.notePlace()
	s := newShell("", at.Dir)
	s.again = true
	for _, pair := range p.Assign {
		name, text, _ := strings.Cut(pair, "=")
		v := value{kind: textValue, text: text}
		a.assign(s, name, v)
		a.noteExport(name, v)
	}
	for _, name := range p.Unset {
		a.assign(s, name, value{})
	}
	words := make([]word, len(p.Argv))
	for i, text := range p.Argv {
		words[i].text = text
	}
	for _, i := range p.Pipes {
		if i > 0 && i < len(words) {
			words[i].unknown, words[i].pipe = true, true
		}
	}
	a.words = len(words)
	a.external(s, words, manner{heard: p.Heard})
	a.followNames()
	a.followExports()
	return a.result(permission.JoinArgv(p.Argv)), nil
}

// Line is what is known of a command line besides its effects, by where its commands begin.
type Line struct {
	named map[uint]bool
	later map[uint]bool
	heard map[hearing]bool
}

// hearing is a program that runs what it reads, at one place.
type hearing struct {
	at   uint
	argv string
}

// Read follows a command line as Analyse does.
func Read(text string, at Place) (*Line, error) {
	a, err := analyse(text, at)
	if err != nil {
		return nil, err
	}
	return &a.line, nil
}

// Names are where commands begin whose names are known, though they are not plain words.
func (l *Line) Names() []uint {
	var all []uint
	for at := range maps.Keys(l.named) {
		if !l.later[at] {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return all
}

// Heard reports whether a program runs what it reads, and that was followed.
func (l *Line) Heard(at uint, argv []string) bool {
	return l.heard[hearing{at, permission.JoinArgv(argv)}]
}

// mark adds a place.
func mark[K comparable](places *map[K]bool, place K) {
	if *places == nil {
		*places = map[K]bool{}
	}
	(*places)[place] = true
}
