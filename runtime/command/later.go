package command

import (
	"slices"
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

// Air's shell asks before each program that it starts, with the words that it has then. So
// words that cannot be known before need not be: their command is noted as it is written,
// with the risk that it has whatever they turn out to be. What is not seen in the words
// even then, such as the input of xargs, makes the whole unknown as ever.

// later reports whether a word is known when its program is started, and not before: a
// pattern may match a file that is taken for an option.
func (w word) later() bool {
	return w.unknown && !w.pipe || w.pattern && w.mayBeOption() && !strings.HasPrefix(w.text, "-")
}

// fillers are texts that stand for a word that is not known: most programs take one of
// them for a number, or for a name.
var fillers = []string{"1", "x"}

// fillWords are the words with texts in place of those that are not known. What is certain of
// their beginning stays.
func fillWords(words []word, filler string) []word {
	all := slices.Clone(words)
	for i, w := range all {
		switch {
		case !w.later():
		case w.pattern && !w.unknown:
			all[i].text = "./" + w.text
		default:
			all[i] = word{text: certain(w.text) + filler}
		}
	}
	return all
}

// certain is the beginning of a word, as it is written, that is the same in its value.
func certain(written string) string {
	if end := strings.IndexAny(written, "$`\"'\\*?[{~<>"); end >= 0 {
		return written[:end]
	}
	return ""
}

// externalLater is external for words or a folder that are only known when it runs.
func (a *analysis) externalLater(s *shell, words []word, k caller) {
	if why := a.never(s, words, k); why != "" {
		a.unknown(why)
	}
	a.later = true
	a.deferred++
	defer func() { a.deferred-- }()
	dirs := s.dirs
	if len(dirs) == 0 {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		a.follow(&simple{words: words, dir: dir}, k)
	}
}

// never says why it cannot be known what a program does, even with all of its words.
func (a *analysis) never(s *shell, words []word, k caller) (why string) {
	dir := a.at.Dir
	if len(s.dirs) > 0 {
		dir = s.dirs[0]
	}
	for _, filler := range fillers {
		b := &analysis{at: a.at, steps: a.steps, words: a.words}
		b.follow(&simple{words: fillWords(words, filler), dir: dir}, k)
		a.steps = b.steps
		if why = b.opaque; why == "" {
			return ""
		}
	}
	return why
}

// atLeast gives a program the least risk that it has with any of the fillers.
func (a *analysis) atLeast(c *simple, f *finding) {
	f.risk, f.why, f.hosts = "", "", false
	for i, filler := range fillers {
		one := simple{words: fillWords(c.words, filler), dir: c.dir}
		found := (&analysis{at: a.at}).find(&one)
		if i == 0 || rank(found.risk) < rank(f.risk) {
			f.risk, f.why, f.hosts = found.risk, found.why, found.hosts
		}
	}
	if f.risk == "" {
		f.risk = permission.RiskReadOnly
	}
}
