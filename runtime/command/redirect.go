package command

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/aircoding/air/runtime/permission"
)

// redirects notes what the redirections of a statement open. stdin is what it reads then,
// where that is known; opens says that one of them may fail.
func (a *analysis) redirects(s *shell, list []*syntax.Redirect) (stdin value, opens bool) {
	for _, r := range list {
		if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
			a.assign(s, strings.Trim(r.N.Value, "{}"), value{})
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			stdin = value{}
			if v, ok := a.document(s, r); ok {
				stdin = v
			}
		case syntax.DplIn, syntax.DplOut:
			opens = a.duplicate(s, r) || opens
		default:
			opens = true
			a.open(s, r)
		}
	}
	return stdin, opens
}

// duplicate is >& and <&, which take a number, - or, the former, a file.
func (a *analysis) duplicate(s *shell, r *syntax.Redirect) (opens bool) {
	v := a.literal(s, r.Word)
	switch to := strings.TrimSuffix(v.text, "-"); {
	case v.kind == numberValue, v.kind == textValue && (to == "" || isDigits(to)):
		return false
	case r.Op == syntax.DplIn:
		a.unknown("what " + a.written(r.Word) + " stands for in a redirection cannot be known before it runs")
		return true
	}
	a.open(s, r)
	return true
}

func (a *analysis) open(s *shell, r *syntax.Redirect) {
	if len(r.Word.Parts) == 1 {
		if p, ok := r.Word.Parts[0].(*syntax.ProcSubst); ok {
			a.apart(s, p.Stmts)
			return
		}
	}
	v := a.literal(s, r.Word)
	if v.kind != textValue || looseWord(r.Word, v.text) {
		a.unknown("which file " + a.written(r.Word) + " stands for cannot be known before it runs")
		return
	}
	switch r.Op {
	case syntax.RdrIn:
		a.touchPath(s, permission.Read, v.text)
	case syntax.RdrInOut:
		a.touchPath(s, permission.Read, v.text)
		a.touchPath(s, permission.Write, v.text)
	default:
		a.touchPath(s, permission.Write, v.text)
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

func (a *analysis) touchPath(s *shell, kind permission.Kind, name string) {
	if strings.HasPrefix(path.Clean(name), "/dev/tcp/") || strings.HasPrefix(path.Clean(name), "/dev/udp/") {
		a.connect(name)
		return
	}
	if len(s.dirs) == 0 && !path.IsAbs(name) {
		a.unknown("in which folder " + name + " lies cannot be known before it runs")
		return
	}
	if path.IsAbs(name) {
		a.later = append(a.later, permission.Effect{Kind: kind, Target: name})
		return
	}
	for _, dir := range s.dirs {
		a.later = append(a.later, permission.Effect{Kind: kind, Target: absolute(dir, name)})
	}
}

// connect is a redirection to a name by which bash opens a connection.
func (a *analysis) connect(name string) {
	a.unknown("bash opens a connection for " + name)
	protocol, rest, _ := strings.Cut(strings.TrimPrefix(path.Clean(name), "/dev/"), "/")
	host, port, _ := strings.Cut(rest, "/")
	if e, err := permission.NetTarget(protocol + "://" + host + ":" + port); err == nil {
		a.later = append(a.later, e)
	}
}

// addPath adds the effect on a path as seen from a folder. The streams of the command
// itself, and what has no content, are free.
func (a *analysis) addPath(e permission.Effect, dir string) {
	if isFree(e.Target, e.Kind) {
		return
	}
	if e.Target = absolute(dir, e.Target); path.IsAbs(e.Target) { // else its folder is not known, which makes the whole opaque
		a.add(e)
	}
}

// flush adds the effects of redirections, which come after the command that they are for.
func (a *analysis) flush(from int) {
	for _, e := range a.later[from:] {
		if !e.Kind.IsPath() || !isFree(e.Target, e.Kind) {
			a.add(e)
		}
	}
	a.later = a.later[:from]
}

func absolute(dir, name string) string {
	switch {
	case path.IsAbs(name):
		return name
	case name == "", name == ".":
		return dir
	}
	return strings.TrimSuffix(dir, "/") + "/" + strings.TrimPrefix(name, "./")
}

func isFree(name string, kind permission.Kind) bool {
	switch name {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return kind != permission.Delete
	case "/dev/zero", "/dev/random", "/dev/urandom":
		return kind == permission.Read
	}
	fd, ok := strings.CutPrefix(name, "/dev/fd/")
	return ok && isDigits(fd) && kind != permission.Delete
}
