package command

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Unsupported names what air's shell cannot do as bash does, "" where there is nothing of
// the kind. Only bash can run such a text.
func Unsupported(file *syntax.File) string {
	u := &lacks{errexit: SetsErrexit(file)}
	u.stmts(file.Stmts, scope{})
	syntax.Walk(file, u.visit)
	if u.what == "" {
		return ""
	}
	return "air's shell does not support " + u.what + ", bash does"
}

// lacks collects what the shell lacks. The first counts.
type lacks struct {
	what    string
	errexit bool // set -e may hold
}

func (u *lacks) lack(format string, args ...any) {
	if u.what == "" {
		u.what = fmt.Sprintf(format, args...)
	}
}

func (u *lacks) visit(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.Redirect:
		u.redirect(n)
	case *syntax.CoprocClause:
		u.lack("coprocesses")
	case *syntax.DeclClause:
		u.declaration(n)
	case *syntax.Assign:
		u.assignment(n)
	case *syntax.ExtGlob:
		u.lack("the pattern %s…)", n.Op)
	case *syntax.ParamExp:
		u.parameter(n)
	case *syntax.BinaryArithm:
		u.arithmetic(n)
	case *syntax.BinaryTest:
		if n.Op == syntax.TsReMatch && strangeExpression(n.Y) {
			u.lack("quotes in the pattern of =~")
		}
	case *syntax.CmdSubst:
		for _, st := range n.Stmts {
			if st.Background {
				u.lack("a background job inside $( )")
			}
		}
	case *syntax.FuncDecl:
		if n.Name != nil && ownFunctions[n.Name.Value] {
			u.lack("a function called %s", n.Name.Value)
		}
	}
	return true
}

// ownFunctions are names of builtins that the shell takes for themselves.
var ownFunctions = set("command builtin exec eval source . exit return set unset shift trap break continue export readonly local declare typeset : test [ printf read kill")

func (u *lacks) redirect(r *syntax.Redirect) {
	n := ""
	if r.N != nil {
		n = r.N.Value
	}
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		if n != "" && n != "1" && n != "2" {
			u.lack("a redirection of the descriptor %s", n)
		}
	case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		if n != "" && n != "0" {
			u.lack("a redirection of the descriptor %s", n)
		}
		if (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc) && !certainDelimiter(r.Word) {
			u.lack("a here-document whose end is quoted in part")
		}
	case syntax.DplOut:
		u.duplicate(n, r.Word.Lit())
	case syntax.DplIn:
		if r.Word.Lit() != "-" || n != "" && n != "0" {
			u.lack("a copy of a descriptor that is read")
		}
	default:
		u.lack("the redirection %s", r.Op)
	}
}

func (u *lacks) duplicate(n, to string) {
	digits := strings.Trim(to, "0123456789") == ""
	switch {
	case n != "" && n != "1" && n != "2":
		u.lack("a redirection of the descriptor %s", n)
	case to == "1", to == "2", to == "-":
	case to == "" || digits || n != "" || strings.HasSuffix(to, "-"):
		u.lack("a copy of another descriptor than 1 and 2")
	}
}

func certainDelimiter(w *syntax.Word) bool {
	_, certain := delimiter(w)
	return certain
}

func (u *lacks) declaration(d *syntax.DeclClause) {
	names := 0
	for _, as := range d.Args {
		if as.Name != nil {
			names++
			continue
		}
		flag := as.Value.Lit()
		if strings.Trim(flag, "-xraAg") != "" || flag == "" || d.Variant.Value == "export" && flag != "-x" && flag != "--" || strings.HasPrefix(flag, "--") {
			u.lack("%s %s", d.Variant.Value, flag)
		}
	}
	if names == 0 {
		u.lack("%s without a name", d.Variant.Value)
	}
}

func (u *lacks) assignment(as *syntax.Assign) {
	switch {
	case as.Append && as.Index != nil:
		u.lack("+= to an element of an array")
	case as.Append && as.Array != nil:
		for _, e := range as.Array.Elems {
			if e.Index != nil {
				u.lack("+= of elements with an index")
			}
		}
	}
	if as.Value == nil {
		return
	}
	for i, part := range as.Value.Parts {
		if lit, ok := part.(*syntax.Lit); ok && (strings.Contains(lit.Value, ":~") || i > 0 && strings.HasPrefix(lit.Value, "~") && strings.HasSuffix(before(as.Value.Parts, i), ":")) {
			u.lack("~ after a colon")
		}
	}
}

func before(parts []syntax.WordPart, i int) string {
	if lit, ok := parts[i-1].(*syntax.Lit); ok {
		return lit.Value
	}
	return ""
}

// unsetHere are variables that bash keeps, and the shell does not.
var unsetHere = set("_ - PIPESTATUS FUNCNAME BASH_SOURCE BASH_LINENO BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_COMMAND BASH_EXECUTION_STRING BASH_SUBSHELL BASH_VERSINFO BASH_VERSION BASH_ALIASES BASH_CMDS BASHPID BASHOPTS SHELLOPTS " +
	"SECONDS EPOCHSECONDS EPOCHREALTIME GROUPS DIRSTACK HOSTNAME OSTYPE MACHTYPE HOSTTYPE HISTCMD LINES COLUMNS COPROC OPTERR SHLVL")

func (u *lacks) parameter(p *syntax.ParamExp) {
	switch {
	case p.Param == nil:
		u.lack("an expansion that is not bash's")
		return
	case p.Repl != nil && anchored(p.Repl.Orig):
		u.lack("${%s/#…} and ${%s/%%…}", p.Param.Value, p.Param.Value)
	case unsetHere[p.Param.Value]:
		u.lack("the variable $%s", p.Param.Value)
	}
	if p.Exp == nil || p.Exp.Word == nil {
		return
	}
	switch p.Exp.Op {
	case syntax.OtherParamOps:
		u.lack("${%s@%s}", p.Param.Value, p.Exp.Word.Lit())
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		syntax.Walk(p.Exp.Word, u.eager)
	}
}

// anchored reports whether a pattern is for the start or the end alone.
func anchored(w *syntax.Word) bool {
	if w == nil || len(w.Parts) == 0 {
		return false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	return ok && strings.ContainsAny(lit.Value[:min(1, len(lit.Value))], "#%")
}

// eager refuses what the shell does in the word of ${name:-word} even where the word is
// not wanted.
func (u *lacks) eager(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
		u.lack("a substitution inside ${ }")
	case *syntax.ParamExp:
		if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull || n.Exp.Op == syntax.ErrorUnset || n.Exp.Op == syntax.ErrorUnsetOrNull) {
			u.lack("an assignment inside ${ }")
		}
	case *syntax.Lit:
		if strings.Contains(n.Value, `\`) {
			u.lack("a backslash inside ${ }")
		}
	}
	return true
}

func (u *lacks) arithmetic(x *syntax.BinaryArithm) {
	switch x.Op {
	case syntax.PowAssgn, syntax.AndBoolAssgn, syntax.OrBoolAssgn, syntax.XorBoolAssgn, syntax.XorBool:
		u.lack("the operator %s", x.Op)
	}
	if w, ok := x.X.(*syntax.Word); ok && isAssignment(x.Op) && !syntax.ValidName(w.Lit()) {
		u.lack("arithmetic that changes an element of an array")
	}
}

// strangeExpression reports whether the pattern of =~ has quotes or backslashes around
// what is not itself in a pattern.
func strangeExpression(x syntax.TestExpr) (strange bool) {
	w, ok := x.(*syntax.Word)
	if !ok {
		return true
	}
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.SglQuoted:
			strange = strange || strings.ContainsAny(p.Value, `.*+?()[]{}|^$\`) || p.Dollar
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				strange = strange || !ok || strings.ContainsAny(lit.Value, `.*+?()[]{}|^$\`)
			}
		}
	}
	return strange
}
