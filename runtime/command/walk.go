package command

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// What follows a statement depends on whether it succeeded: after cd it runs in another
// folder. So the functions below leave in s what holds after a success, and return what
// holds after a failure, nil where that is the same.

func (a *analysis) stmts(s *shell, list []*syntax.Stmt) (onFail *shell) {
	for _, st := range list {
		s.merge(onFail)
		onFail = a.stmt(s, st)
	}
	return onFail
}

// whole follows statements after which it does not matter whether they succeeded.
func (a *analysis) whole(s *shell, list []*syntax.Stmt) { s.merge(a.stmts(s, list)) }

// apart follows statements that run in a shell of their own.
func (a *analysis) apart(s *shell, list []*syntax.Stmt) { a.stmts(s.clone(), list) }

func (a *analysis) stmt(s *shell, st *syntax.Stmt) (onFail *shell) {
	if !a.step() {
		return nil
	}
	if st.Background || st.Coprocess || st.Disown {
		a.foreground(s.clone(), st)
		return nil
	}
	return a.foreground(s, st)
}

func (a *analysis) foreground(s *shell, st *syntax.Stmt) (onFail *shell) {
	var before *shell
	r := a.redirects(s, st.Redirs)
	if r.opens {
		before = s.clone()
	}
	onFail = a.command(s, st.Cmd, r.stdin)
	for _, e := range r.effects {
		a.add(e)
		a.noteUse(e, "", false)
	}
	if r.opens { // where a file cannot be opened, the command does not run
		onFail = onFail.orClone(s)
		onFail.merge(before)
	}
	if st.Negated && onFail != nil {
		*s, *onFail = *onFail, *s
	}
	return onFail
}

func (a *analysis) command(s *shell, cmd syntax.Command, stdin value) (onFail *shell) {
	switch cmd := cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		return a.call(s, cmd, stdin)
	case *syntax.BinaryCmd:
		return a.binary(s, cmd)
	case *syntax.Block:
		return a.stmts(s, cmd.Stmts)
	case *syntax.Subshell:
		a.apart(s, cmd.Stmts)
	case *syntax.IfClause:
		a.ifClause(s, cmd)
	case *syntax.WhileClause:
		a.while(s, cmd)
	case *syntax.ForClause:
		a.forClause(s, cmd)
	case *syntax.CaseClause:
		a.caseClause(s, cmd)
	case *syntax.FuncDecl:
		a.declareFunc(s, cmd)
	case *syntax.ArithmCmd:
		a.arithmetic(s, cmd.X)
	case *syntax.LetClause:
		for _, x := range cmd.Exprs {
			a.arithmetic(s, x)
		}
	case *syntax.TestClause:
		a.test(s, cmd.X)
	case *syntax.DeclClause:
		a.declare(s, cmd)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			return a.stmt(s, cmd.Stmt)
		}
	case *syntax.CoprocClause:
		a.unknown("a coprocess runs beside the rest")
		a.stmt(s.clone(), cmd.Stmt)
	default:
		a.unknown("a part of it is in a language that air does not know")
		s.forgetAll()
	}
	return nil
}

func (a *analysis) binary(s *shell, b *syntax.BinaryCmd) (onFail *shell) {
	switch b.Op {
	case syntax.AndStmt:
		onFail = a.stmt(s, b.X).orClone(s)
		failed := a.stmt(s, b.Y)
		if failed == nil {
			failed = s
		}
		onFail.merge(failed)
	case syntax.OrStmt:
		onFail = a.stmt(s, b.X).orClone(s)
		failed := a.stmt(onFail, b.Y)
		s.merge(onFail)
		if failed != nil {
			return failed
		}
	default: // a pipe, of which the last part runs in the shell itself or in another one
		a.stmt(s.clone(), b.X)
		before := s.clone()
		s.merge(a.stmt(s, b.Y))
		s.merge(before)
		return nil
	}
	return onFail
}

func (a *analysis) ifClause(s *shell, c *syntax.IfClause) {
	if len(c.Cond) == 0 { // the last else
		a.whole(s, c.Then)
		return
	}
	otherwise := a.stmts(s, c.Cond).orClone(s)
	a.whole(s, c.Then)
	if c.Else != nil {
		a.ifClause(otherwise, c.Else)
	}
	s.merge(otherwise)
}

func (a *analysis) caseClause(s *shell, c *syntax.CaseClause) {
	a.literal(s, c.Word)
	after := s.clone() // where nothing matches
	var previous *shell
	for _, item := range c.Items {
		branch := s.clone()
		branch.merge(previous)
		for _, p := range item.Patterns {
			a.literal(branch, p)
		}
		a.whole(branch, item.Stmts)
		after.merge(branch)
		previous = nil
		if item.Op != syntax.Break {
			previous = branch
		}
	}
	*s = *after
}

func (a *analysis) declareFunc(s *shell, f *syntax.FuncDecl) {
	if f.Name == nil {
		a.unknown("a function has no name")
		return
	}
	if oneOf(f.Name.Value, "command_not_found_handle command_not_found_handler") {
		a.unknown("the shell calls " + f.Name.Value + " for each program that is not there")
	}
	s.setFunc(f.Name.Value, f.Body)
}

// callFunc follows the body of a function in place of its call.
func (a *analysis) callFunc(s *shell, words []word) {
	name := words[0].text
	body := s.funcs[name]
	switch {
	case body == nil:
		a.unknown("what the function " + name + " does depends on what ran before")
		s.forgetAll()
		return
	case slices.Contains(s.running, name):
		a.unknown("the function " + name + " calls itself")
		s.forgetAll()
		return
	}
	changed := changesIn(s, body)
	running, params, hasParams, inFunc := s.running, s.params, s.hasParams, s.inFunc
	s.params, s.hasParams = paramsOf(words[1:])
	s.inFunc = true
	s.running = append(slices.Clip(running), name)
	s.merge(a.stmt(s, body))
	if changed.returns { // from anywhere in it
		s.dead = false
		s.lose(changed)
	}
	for local := range changed.locals {
		s.set(local, value{})
	}
	s.running, s.params, s.hasParams, s.inFunc = running, params, hasParams, inFunc
}

func paramsOf(words []word) (params []value, known bool) {
	for _, w := range words {
		switch {
		case w.many || w.pattern:
			return nil, false
		case w.unknown:
			params = append(params, value{})
		default:
			params = append(params, value{kind: textValue, text: w.text})
		}
	}
	return params, true
}

// test follows the words of [[ ]].
func (a *analysis) test(s *shell, x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		a.literal(s, x)
	case *syntax.ParenTest:
		a.test(s, x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			a.unknown("bash evaluates what follows " + x.Op.String())
		}
		a.test(s, x.X)
	case *syntax.BinaryTest:
		a.binaryTest(s, x)
	}
}

func (a *analysis) binaryTest(s *shell, x *syntax.BinaryTest) {
	switch x.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		for _, side := range []syntax.TestExpr{x.X, x.Y} {
			w, ok := side.(*syntax.Word)
			if !ok || !a.literal(s, w).isNumber() {
				a.unknown("[[ " + x.Op.String() + " ]] evaluates its words, which are not known to be numbers")
			}
		}
		return
	}
	a.test(s, x.X)
	a.test(s, x.Y)
}
