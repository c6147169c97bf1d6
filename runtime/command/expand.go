package command

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/aircoding/air/internal/lazyregexp"
)

// fields expands the words of a command, as far as they are known.
func (a *analysis) fields(s *shell, list []*syntax.Word) []word {
	all := make([]word, 0, len(list))
	for _, w := range list {
		all = a.field(s, w, all)
	}
	a.words += len(all)
	return all
}

// field adds the words that one word becomes.
func (a *analysis) field(s *shell, w *syntax.Word, all []word) []word {
	if lit := plainWord(w); lit != "" {
		return append(all, word{text: lit})
	}
	const most, limit = 20, 1000
	switch n := braces(w); {
	case s.posix || n == 0:
		return a.expandWord(s, w, w, all)
	case n > most:
		a.unknown("the braces in a word stand for too many words")
		return append(all, word{text: s.written(w), unknown: true, many: true})
	}
	split := *w
	if !syntax.SplitBraces(&split) {
		return a.expandWord(s, w, w, all)
	}
	start := len(all)
	for one, err := range expand.BracesSeq(nil, &split) {
		if err != nil || len(all)-start > limit {
			a.unknown("the braces in " + s.written(w) + " stand for too many words")
			return append(all[:start], word{text: s.written(w), unknown: true, many: true})
		}
		before := len(all)
		all = a.expandWord(s, one, w, all)
		if len(all) == before { // which to some shells is an empty word
			all = append(all, word{text: s.written(w), unknown: true, many: true})
		}
	}
	return all
}

// plainWord is the text of a word that a shell takes as it is.
func plainWord(w *syntax.Word) string {
	if len(w.Parts) != 1 {
		return ""
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || strings.ContainsAny(lit.Value, "\\*?[{~") {
		return ""
	}
	return lit.Value
}

// braces counts the { of a word that may begin a list.
func braces(w *syntax.Word) int {
	n := 0
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			n += strings.Count(lit.Value, "{")
		}
	}
	return n
}

// written is a word as the text has it.
func (s *shell) written(w *syntax.Word) string {
	if len(w.Parts) == 0 {
		return ""
	}
	start, end := int(w.Pos().Offset()), int(w.End().Offset())
	if start >= end || end > len(s.source) || !utf8.ValidString(s.source[start:end]) {
		return "$…"
	}
	return s.source[start:end]
}

// expansion is a word on its way to its fields.
type expansion struct {
	a      *analysis
	s      *shell
	fields []word

	plain, pattern []byte // of the current field: as it is, and with what is quoted escaped
	meta, bracket  bool   // there is an unquoted * or ?, or a [
	started        bool   // there is a field, even if it is empty
	unknown, many  bool   // somewhere in the word
}

func (a *analysis) expandWord(s *shell, w, written *syntax.Word, all []word) []word {
	x := expansion{a: a, s: s, fields: all}
	for i, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && i == 0 && strings.HasPrefix(lit.Value, "~") {
			x.tilde(lit.Value, len(w.Parts) == 1)
			continue
		}
		x.part(part, false)
	}
	x.flush()
	if x.unknown || valueTilde(w) {
		_, pipe := w.Parts[0].(*syntax.ProcSubst)
		return append(all, word{text: s.written(written), unknown: true, many: x.many, pipe: pipe && len(w.Parts) == 1})
	}
	return x.fields
}

// valueTilde reports whether a word looks like an assignment with a ~ in its value, which
// some shells expand.
func valueTilde(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && (strings.Contains(lit.Value, "=~") || strings.Contains(lit.Value, ":~")) {
			return true
		}
	}
	return false
}

// tilde expands ~ at the start of a word; of other people the homes are not known.
func (x *expansion) tilde(lit string, whole bool) {
	rest := lit[1:]
	home := x.a.get(x.s, "HOME")
	switch {
	case home.kind != textValue, home.text == "", rest == "" && !whole, rest != "" && rest[0] != '/':
		x.unknown = true
	default:
		x.quoted(home.text)
	}
	x.lit(rest)
}

// flush ends a field.
func (x *expansion) flush() {
	if !x.started && len(x.plain) == 0 {
		return
	}
	w := word{text: string(x.plain)}
	if x.meta || x.bracket && strings.Contains(w.text, "]") {
		w = word{text: string(x.pattern), pattern: true}
		x.a.output += len(w.text)
		if leadsUp.MatchString(w.text) {
			x.unknown, x.many = true, true
		}
	}
	x.fields = append(x.fields, w)
	x.plain, x.pattern = x.plain[:0], x.pattern[:0]
	x.meta, x.bracket, x.started = false, false, false
}

// leadsUp finds patterns whose matches may lie above the folder before the pattern: those
// that match .., or have it after the first mark of a pattern.
var leadsUp = lazyregexp.New(`(^|/)\.[*?]|(^|/)\.?\[[^!^]|[*?\[\\].*/\.\.(/|$)`)

func (x *expansion) part(part syntax.WordPart, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			x.quoted(unescape(p.Value, "\\\"$`"))
		} else {
			x.lit(p.Value)
		}
	case *syntax.SglQuoted:
		x.started = true
		if text, ok := singleQuoted(p); ok {
			x.quoted(text)
		} else {
			x.unknown = true
		}
	case *syntax.DblQuoted:
		x.double(p)
	case *syntax.ParamExp:
		if list, ok := x.a.listOf(x.s, p); ok && !quoted {
			x.list(list, false)
			return
		}
		x.value(x.a.param(x.s, p), quoted)
	case *syntax.CmdSubst:
		x.value(x.a.commandSubst(x.s, p), quoted)
	case *syntax.ArithmExp:
		x.value(x.a.arithmetic(x.s, p.X), quoted)
	case *syntax.ProcSubst:
		x.a.apart(x.s, p.Stmts)
		x.unknown = true
	default:
		x.unknown, x.many = true, true
	}
}

func (x *expansion) double(p *syntax.DblQuoted) {
	if len(p.Parts) == 1 {
		if param, ok := p.Parts[0].(*syntax.ParamExp); ok && isPlain(param) && param.Param.Value == "@" {
			if list, ok := x.a.listOf(x.s, param); ok {
				x.list(list, true)
				return
			}
			x.unknown, x.many = true, true
			return
		}
	}
	x.started = true
	for _, part := range p.Parts {
		if param, ok := part.(*syntax.ParamExp); ok && isList(param) {
			x.many = true
		}
		x.part(part, true)
	}
}

// lit adds text outside quotes, where a backslash quotes one character.
func (x *expansion) lit(text string) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			x.escaped(text[i])
			continue
		case c == '\\':
			x.escaped(c)
			continue
		case c == '*', c == '?':
			x.meta = true
		case c == '[':
			x.bracket = true
		}
		x.plain, x.pattern = append(x.plain, c), append(x.pattern, c)
	}
}

func (x *expansion) quoted(text string) {
	for i := range len(text) {
		x.escaped(text[i])
	}
}

func (x *expansion) escaped(c byte) {
	x.plain = append(x.plain, c)
	if strings.IndexByte(`*?[]\`, c) >= 0 {
		x.pattern = append(x.pattern, '\\')
	}
	x.pattern = append(x.pattern, c)
	x.started = true
}

// value adds what an expansion yields. Outside quotes it is split at blanks, and may be a
// pattern.
func (x *expansion) value(v value, quoted bool) {
	switch {
	case len(x.plain)+len(v.text) > maxValue:
		x.unknown, x.many = true, true
	case v.kind == numberValue:
		x.unknown = true
		x.many = x.many || x.s.split && !quoted
	case v.kind == anyValue, v.kind == globValue && !quoted:
		x.unknown = true
		x.many = x.many || !quoted
	case v.kind == globValue:
		x.plain, x.pattern = append(x.plain, v.text...), append(x.pattern, v.text...)
		x.meta, x.started = true, true
	case quoted:
		x.quoted(v.text)
	case x.s.split || strings.Contains(v.text, `\`):
		x.unknown, x.many = true, true
	default:
		x.splitText(v.text)
	}
}

func (x *expansion) splitText(text string) {
	for {
		end := strings.IndexAny(text, " \t\n")
		if end < 0 {
			x.lit(text)
			return
		}
		x.lit(text[:end])
		x.flush()
		text = text[end+1:]
	}
}

func (x *expansion) list(list []value, quoted bool) {
	for i, v := range list {
		if i > 0 {
			x.flush()
		}
		x.started = x.started || quoted
		x.value(v, quoted)
	}
}

// literal expands a word that stays one: of an assignment, a redirection, a test.
func (a *analysis) literal(s *shell, w *syntax.Word) value {
	if w == nil {
		return value{kind: textValue}
	}
	if lit := plainWord(w); lit != "" {
		return value{kind: textValue, text: lit}
	}
	if len(w.Parts) == 1 {
		switch p := unquoted(w.Parts[0]).(type) {
		case *syntax.ParamExp:
			return a.param(s, p)
		case *syntax.CmdSubst:
			return a.commandSubst(s, p)
		case *syntax.ArithmExp:
			return a.arithmetic(s, p.X)
		}
	}
	x := expansion{a: a, s: s}
	for i, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			if i == 0 && strings.HasPrefix(lit.Value, "~") {
				x.tilde(lit.Value, len(w.Parts) == 1)
				continue
			}
			// Of ~ in the middle, and of a backslash, shells make different things here.
			x.unknown = x.unknown || strings.Contains(lit.Value, ":~") || strings.Contains(lit.Value, `\`)
			x.part(part, false)
			continue
		}
		x.literalPart(part)
	}
	if x.unknown || len(x.fields) > 0 {
		return value{}
	}
	return value{kind: textValue, text: string(x.plain)}
}

// literalPart adds a part as if it stood in quotes.
func (x *expansion) literalPart(part syntax.WordPart) {
	var glob bool
	switch p := part.(type) {
	case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp:
		before := len(x.plain)
		x.part(p, true)
		glob = x.meta && len(x.plain) > before
	default:
		x.part(part, false)
		glob = x.meta
	}
	if glob { // one of several names, put together with others
		x.unknown, x.meta = true, false
	}
}

// unquoted is the part inside double quotes, where it stands alone.
func unquoted(part syntax.WordPart) syntax.WordPart {
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		return q.Parts[0]
	}
	return part
}

// unescape drops a backslash before certain characters.
func unescape(text, special string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte(special, text[i+1]) >= 0 {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// singleQuoted is the text in single quotes, or in $ and single quotes, where all shells agree on it.
func singleQuoted(q *syntax.SglQuoted) (text string, ok bool) {
	if !q.Dollar {
		return q.Value, true
	}
	if strings.Contains(q.Value, `\`) && !plainEscapes.MatchString(q.Value) {
		return "", false
	}
	text, _, err := expand.Format(nil, q.Value, nil)
	return text, err == nil && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

var plainEscapes = lazyregexp.New(`^(?s:[^\\]|\\[abeEfnrtv\\'"?]|\\[0-3]?[0-7]{1,2}|\\x[0-9A-Fa-f]{1,2}|\\u[0-9A-Fa-f]{1,4}|\\U[0-9A-Fa-f]{1,8})*$`)
