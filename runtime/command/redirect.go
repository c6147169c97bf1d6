package command

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/aircoding/air/runtime/permission"
)

// redirection is what the redirections of a statement do.
type redirection struct {
	stdin   value               // what it reads, where that is known
	opens   bool                // one of them may fail
	effects []permission.Effect // which come after those of the command
}

func (a *analysis) redirects(s *shell, list []*syntax.Redirect) redirection {
	var to redirection
	for _, r := range list {
		if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
			a.assign(s, strings.Trim(r.N.Value, "{}"), value{})
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			to.stdin = value{}
			if v, ok := a.document(s, r); ok {
				to.stdin = v
			}
		case syntax.DplIn, syntax.DplOut:
			a.duplicate(s, r, &to)
		default:
			a.open(s, r, &to)
		}
	}
	return to
}

// duplicate is >& and <&, which take a number, - or, the former, a file.
func (a *analysis) duplicate(s *shell, r *syntax.Redirect, to *redirection) {
	v := a.literal(s, r.Word)
	switch number := strings.TrimSuffix(v.text, "-"); {
	case v.kind == numberValue, v.kind == textValue && (number == "" || isDigits(number)):
	case r.Op == syntax.DplIn:
		to.opens = true
		a.unknown(notKnown("what " + s.written(r.Word) + " stands for in a redirection"))
	default:
		a.open(s, r, to)
	}
}

func (a *analysis) open(s *shell, r *syntax.Redirect, to *redirection) {
	to.opens = true
	if len(r.Word.Parts) == 1 {
		if p, ok := r.Word.Parts[0].(*syntax.ProcSubst); ok {
			a.apart(s, p.Stmts)
			return
		}
	}
	v := a.literal(s, r.Word)
	if v.kind != textValue && s.asks {
		a.later = true
		return // which file it is, is asked when it is opened
	}
	if v.kind != textValue || looseWord(r.Word, v.text) {
		a.unknown(notKnown("which file " + s.written(r.Word) + " stands for"))
		return
	}
	if r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut {
		a.openPath(s, permission.Read, v.text, to)
	}
	if r.Op != syntax.RdrIn {
		a.openPath(s, permission.Write, v.text, to)
	}
}

// looseWord reports whether shells differ on the file that a word stands for: some expand
// patterns and braces there, and some split the values of variables.
func looseWord(w *syntax.Word, text string) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?[{") {
				return true
			}
		case *syntax.SglQuoted, *syntax.DblQuoted:
		default:
			if text == "" || strings.ContainsAny(text, "*?[ \t\n") {
				return true
			}
		}
	}
	return false
}

func (a *analysis) openPath(s *shell, kind permission.Kind, name string, to *redirection) {
	if strings.HasPrefix(path.Clean(name), "/dev/tcp/") || strings.HasPrefix(path.Clean(name), "/dev/udp/") {
		a.connect(name, to)
		return
	}
	if len(s.dirs) == 0 && !path.IsAbs(name) {
		if s.asks {
			a.later = true
			return
		}
		a.unknown(notKnown("in which folder " + name + " lies"))
		return
	}
	targets := []string{name}
	if !path.IsAbs(name) {
		targets = nil
		for _, dir := range s.dirs {
			targets = append(targets, absolute(dir, name))
		}
	}
	for _, target := range targets {
		if !isFree(target, kind) {
			to.effects = append(to.effects, permission.Effect{Kind: kind, Target: target})
		}
	}
}

// connect is a redirection to a name by which bash opens a connection.
func (a *analysis) connect(name string, to *redirection) {
	a.unknown("bash opens a connection for " + name)
	protocol, rest, _ := strings.Cut(strings.TrimPrefix(path.Clean(name), "/dev/"), "/")
	host, port, _ := strings.Cut(rest, "/")
	if e, err := permission.NetTarget(protocol + "://" + host + ":" + port); err == nil {
		to.effects = append(to.effects, e)
	}
}

// document is the text of a here-document or here-string, where it is known.
func (a *analysis) document(s *shell, r *syntax.Redirect) (value, bool) {
	switch r.Op {
	case syntax.WordHdoc:
		v := a.literal(s, r.Word)
		v.text += "\n"
		return v, v.kind == textValue
	case syntax.Hdoc, syntax.DashHdoc:
		return a.hereDocument(s, r)
	}
	return value{}, false
}

func (a *analysis) hereDocument(s *shell, r *syntax.Redirect) (value, bool) {
	if r.Hdoc == nil {
		return value{kind: textValue}, true
	}
	quoted, certain := delimiter(r.Word)
	x := expansion{a: a, s: s, unknown: !certain}
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		switch {
		case ok && r.Op == syntax.DashHdoc:
			x.quoted(withoutTabs(hereText(lit.Value, quoted)))
			x.unknown = x.unknown || len(r.Hdoc.Parts) > 1
		case ok:
			x.quoted(hereText(lit.Value, quoted))
		default:
			x.part(part, true)
		}
	}
	if x.unknown || x.meta || len(x.plain) > maxValue {
		return value{}, false
	}
	return value{kind: textValue, text: string(x.plain)}, true
}

func hereText(text string, quoted bool) string {
	if quoted {
		return text
	}
	return unescape(text, "\\$`")
}

func withoutTabs(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimLeft(line, "\t")
	}
	return strings.Join(lines, "\n")
}

// delimiter says whether the word after << is in quotes; one that is partly so is read in
// several ways.
func delimiter(w *syntax.Word) (quoted, certain bool) {
	if len(w.Parts) != 1 {
		return false, false
	}
	if lit, ok := w.Parts[0].(*syntax.Lit); ok {
		return strings.Contains(lit.Value, `\`), true
	}
	return true, true
}
