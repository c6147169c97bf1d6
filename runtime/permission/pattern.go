package permission

import (
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/aircoding/air/internal/glob"
)

// matcher is a pattern, with what makes most targets fail it cheaply.
type matcher struct {
	text           string
	prefix, suffix string        // literal text at both ends
	pattern        *glob.Pattern // nil: the text is literal
	argv           *argvPattern  // of run effects, instead of all that
	net            *netPattern   // of net effects, likewise
}

// kindMatcher takes a pattern of an effect that is no path.
func kindMatcher(kind Kind, text string) (m matcher, err error) {
	m.text = text
	switch kind {
	case Run:
		m.argv, err = newArgvPattern(text)
	case Net:
		m.net, err = newNetPattern(text)
	default:
		return newMatcher(text)
	}
	return m, err
}

// newMatcher takes a text that CheckPattern has passed, made absolute or not.
func newMatcher(text string) (matcher, error) {
	text = normal(text)
	prefix, suffix, wild := literalEnds(text)
	if !wild {
		return matcher{text: text}, nil
	}
	if strings.HasPrefix(text[len(prefix):], "**") {
		prefix = strings.TrimSuffix(prefix, "/") // a/** is a too
	}
	pattern, err := glob.Compile(text)
	return matcher{text: text, prefix: prefix, suffix: suffix, pattern: pattern}, err
}

// literalEnds are what a glob has before its first and behind its last character that is
// not only itself.
func literalEnds(text string) (prefix, suffix string, wild bool) {
	first, last := len(text), 0
	for i := 0; i < len(text); i++ {
		if strings.IndexByte(meta, text[i]) < 0 {
			continue
		}
		first = min(first, i)
		if text[i] == '\\' {
			i++
		}
		last = min(i+1, len(text))
	}
	return text[:first], text[last:], last > 0
}

// normal is the form in which targets and patterns are compared.
func normal(text string) string { return norm.NFC.String(text) }

const meta = `*?[]{}\`

// target is that of an effect in the form in which it is compared.
type target struct {
	text string // in NFC; of a run effect as it is
	argv []word // of a run effect
	keys []string
}

// word is one of a command's words.
type word struct {
	text string
	flat string // the same with its slashes flat
}

// targetOf takes a target that passed the floors. One that did not may match less.
func targetOf(kind Kind, text string) target {
	if kind != Run {
		return target{text: normal(text)}
	}
	most := strings.Count(text, " ") + 1
	t := target{text: text, argv: make([]word, 0, most), keys: make([]string, 0, most+maxHead)}
	for rest := text; rest != ""; {
		raw, after, err := nextWord(rest)
		if err != nil {
			return target{text: text} // without words nothing matches
		}
		w := word{text: unquote(raw, asIs)}
		w.flat = flat(w.text)
		t.argv = append(t.argv, w)
		if len(t.argv) <= maxHead {
			t.keys = append(t.keys, text[:len(text)-len(after)])
		}
		if len(t.argv) == 1 {
			t.keys = append(t.keys, " "+raw)
		} else {
			t.keys = append(t.keys, rest[:1+len(raw)])
		}
		rest = after
	}
	return t
}

// matches compares with a target.
func (m *matcher) matches(t target) bool {
	target := t.text
	switch {
	case m.argv != nil:
		return m.argv.matches(t.argv)
	case m.net != nil:
		return m.net.matches(target)
	case m.pattern == nil:
		return target == m.text
	case !strings.HasSuffix(target, m.suffix) || !strings.HasPrefix(target, m.prefix):
		return false
	}
	return m.pattern.Match(target)
}

func anyMatches(matchers []matcher, t target) bool {
	for i := range matchers {
		if matchers[i].matches(t) {
			return true
		}
	}
	return false
}

// CheckPattern refuses a pattern that means nothing, that hides something from its
// reader, or that would be slow to match.
func CheckPattern(text string) error {
	if text == "" {
		return fmt.Errorf("the pattern is empty")
	}
	if shown := Printable(text); shown != text {
		return fmt.Errorf("the pattern has control, invisible or repeated blank characters: %.200s", shown)
	}
	_, err := glob.Compile(text)
	return err
}

// CheckScope refuses a pattern of effects of the kind, as rules and the scopes of
// manifests have them, that means nothing or hides something from its reader.
func CheckScope(kind Kind, pattern string) error {
	switch {
	case kind.IsPath():
		return CheckPathPattern(pattern)
	case kind == Run:
		return checkArgvPattern(pattern)
	}
	if err := CheckPattern(pattern); err != nil {
		return err
	}
	_, err := kindMatcher(kind, pattern)
	return err
}

// CheckPathPattern also refuses what no canonical path can match.
func CheckPathPattern(text string) error {
	for _, name := range strings.Split(text, "/") {
		if name == ".." {
			return fmt.Errorf("the pattern %.200q has \"..\": canonical paths never do", text)
		}
	}
	return CheckPattern(text)
}

// expand makes a path pattern absolute: relative ones to the project, ~/ to the home.
// It returns "" where there is no such place.
func (p *Paths) expand(pattern string) string {
	base := p.root
	switch {
	case strings.HasPrefix(pattern, "/"):
		base = "/"
	case pattern == "~" || strings.HasPrefix(pattern, "~/"):
		base, pattern = p.home, pattern[1:]
	}
	if base == "" {
		return ""
	}
	absolute := strings.TrimSuffix(escape(base), "/") + "/" + strings.Join(names(pattern), "/")
	if absolute == "/" {
		return absolute
	}
	return strings.TrimSuffix(absolute, "/")
}

// pathMatchers are those of a rule's path pattern, none where there is no such place.
// Canonical paths have no links, so a pattern that begins with one is also meant for
// where it leads. Only an allow of something in the project is not: a repository can
// bring a link along.
func (p *Paths) pathMatchers(pattern string, verdict Verdict) ([]matcher, error) {
	absolute := p.expand(pattern)
	if absolute == "" {
		return nil, nil
	}
	own, err := newMatcher(absolute)
	if err != nil {
		return nil, err
	}
	head, tail := literalHead(absolute)
	if verdict == Allow && within(head, p.root) {
		return []matcher{own}, nil
	}
	w, err := walk(head, true)
	if err != nil || w.path == head {
		return []matcher{own}, nil
	}
	led, err := newMatcher(strings.TrimSuffix(escape(w.path), "/") + tail)
	return []matcher{own, led}, err
}

// literalHead splits an absolute pattern before the first name that is not literal.
func literalHead(pattern string) (head, tail string) {
	for i := 0; i < len(pattern); {
		end := strings.IndexByte(pattern[i+1:], '/')
		if end < 0 {
			end = len(pattern)
		} else {
			end += i + 1
		}
		if strings.ContainsAny(unescaped(pattern[i:end]), meta) {
			break
		}
		head, i = head+sample(pattern[i:end], ""), end
		tail = pattern[end:]
	}
	if head == "" {
		return "/", pattern
	}
	return filepath.Clean(head), tail
}

// unescaped leaves out escaped characters.
func unescaped(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' {
			i++
			continue
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// escape returns the pattern that matches exactly the text.
func escape(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(meta, text[i]) >= 0 || (i == 0 && text[i] == '~') {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// named are the classes of places that a pattern names by their own names, and not
// only covers with wildcards: **/.env names protected files, ** does not.
func (p *Paths) named(absolute string, kind Kind) map[Class]bool {
	classes := map[Class]bool{}
	for _, fill := range []string{"", "x"} {
		classes[p.classify(filepath.Clean(sample(absolute, fill)), kind, 0)] = true
	}
	return classes
}

// sample is one path that a pattern without classes and alternatives matches: escapes
// are taken away, and wildcards replaced.
func sample(pattern, fill string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteByte(pattern[i])
		case c != '*':
			b.WriteByte(c)
		case i == 0 || pattern[i-1] != '*':
			b.WriteString(fill)
		}
	}
	return b.String()
}
