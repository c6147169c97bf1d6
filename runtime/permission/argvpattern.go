package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aircoding/air/internal/glob"
)

// argvPattern matches the words of a command. In a word * stands for any characters; **
// as a word stands for any words, also for none. What is in quotes is meant as it is.
type argvPattern struct {
	words []wordPattern
	fixed int // how many literal words it begins with
}

type wordPattern struct {
	any            bool          // **
	text           string        // literal, or a glob in which slashes are flat
	prefix, suffix string        // literal text at both ends of a glob
	pattern        *glob.Pattern // nil: the text is literal
}

// newArgvPattern reads a pattern such as "go test **".
func newArgvPattern(text string) (*argvPattern, error) {
	p := &argvPattern{}
	for rest := text; ; {
		raw, after, err := nextWord(rest)
		if err != nil {
			return nil, err
		}
		if raw == "" {
			break
		}
		w, err := newWordPattern(raw)
		if err != nil {
			return nil, err
		}
		p.words, rest = append(p.words, w), after
	}
	if len(p.words) == 0 {
		return nil, fmt.Errorf("the pattern is empty")
	}
	for p.fixed < len(p.words) && p.words[p.fixed].literal() {
		p.fixed++
	}
	return p, nil
}

func newWordPattern(raw string) (w wordPattern, err error) {
	switch {
	case raw == "**":
		return wordPattern{any: true}, nil
	case !hasWildcard(raw):
		return wordPattern{text: unquote(raw, asIs)}, nil
	}
	w.text = flat(unquote(raw, escape))
	w.prefix, w.suffix, _ = literalEnds(w.text)
	w.pattern, err = glob.Compile(w.text)
	return w, err
}

// checkArgvPattern also refuses what hides something from its reader. Several blanks,
// tabs and new lines hide nothing in quotes, where commands have them.
func checkArgvPattern(text string) error {
	shown := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n", r) }), " ")
	if clear := Printable(shown); clear != shown {
		return fmt.Errorf("the pattern has control or invisible characters: %.200s", clear)
	}
	_, err := newArgvPattern(text)
	return err
}

// flat hides slashes, which a * in a path pattern does not cross. A run effect's words
// have no such character of their own: see checkArgv.
func flat(text string) string { return strings.ReplaceAll(text, "/", "\x1f") }

func (p *argvPattern) matches(argv []word) bool {
	if len(argv) == 0 {
		return false
	}
	// The first word behind the literal ones tells most apart: those are often the same.
	if at := p.fixed; at < len(argv) && at < len(p.words) && !p.words[at].any && !p.words[at].matches(&argv[at]) {
		return false
	}
	// It goes back to the last ** only: what an earlier one could take instead, the last
	// one can take too.
	i, back, taken := 0, -1, 0
	for at := 0; at < len(argv); {
		switch {
		case i < len(p.words) && p.words[i].any:
			back, taken = i, at
			i++
		case i < len(p.words) && p.words[i].matches(&argv[at]):
			i, at = i+1, at+1
		case back >= 0:
			taken++
			i, at = back+1, taken
		default:
			return false
		}
	}
	return !slices.ContainsFunc(p.words[i:], func(w wordPattern) bool { return !w.any })
}

func (w *wordPattern) matches(o *word) bool {
	if w.pattern == nil {
		return !w.any && w.text == o.text
	}
	return strings.HasPrefix(o.flat, w.prefix) && strings.HasSuffix(o.flat, w.suffix) && w.pattern.Match(o.flat)
}

// names reports whether the pattern names a program, and does not only cover it.
func (p *argvPattern) names() bool { return p.fixed > 0 }

func (w *wordPattern) literal() bool { return !w.any && w.pattern == nil }

// maxHead is how many of a command's first words its rules are found by.
const maxHead = 3

// key is by what a table finds the pattern: the beginning of at most maxHead words that
// all commands have which it matches or, where there is none, a blank and a word that all
// of them have; both as JoinArgv writes them. It is "" where there is neither.
func (p *argvPattern) key() string {
	if head := p.head(); len(head) > 0 {
		return JoinArgv(head)
	}
	for i := range p.words {
		if p.words[i].literal() {
			return wordKey(p.words[i].text)
		}
	}
	return ""
}

func wordKey(word string) string { return " " + JoinArgv([]string{"x", word})[len("x "):] }

func (p *argvPattern) head() (words []string) {
	for i := range min(p.fixed, maxHead) {
		words = append(words, p.words[i].text)
	}
	return words
}
