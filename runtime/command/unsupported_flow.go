package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// scope is where a statement stands, for what leaves a loop: the shell goes on with what
// follows in the same block, up to the end of the loop's own list.
type scope struct {
	loop  bool // inside a loop
	last  bool // nothing follows up to the end of a turn
	apart bool // in a shell of its own, which ends without its traps
}

// stmts looks at a list.
func (u *lacks) stmts(list []*syntax.Stmt, in scope) {
	for i, st := range list {
		at := in
		at.last = in.last && i == len(list)-1
		u.stmt(st, at)
	}
}

// body looks at the list of a loop, which ends with each of its own statements.
func (u *lacks) body(list []*syntax.Stmt, in scope) {
	for _, st := range list {
		u.stmt(st, scope{loop: true, last: true, apart: in.apart})
	}
}

func (u *lacks) stmt(st *syntax.Stmt, in scope) {
	if st.Background {
		in = scope{apart: true}
	}
	if u.errexit {
		u.failing(st)
	}
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		u.leaves(c, in)
	case *syntax.BinaryCmd:
		u.binary(c, in)
	case *syntax.Block:
		u.stmts(c.Stmts, in)
	case *syntax.Subshell:
		u.stmts(c.Stmts, scope{apart: true})
	case *syntax.IfClause:
		u.branches(c, in)
	case *syntax.WhileClause:
		u.stmts(c.Cond, scope{apart: in.apart})
		u.body(c.Do, in)
	case *syntax.ForClause:
		u.body(c.Do, in)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			at := in
			at.last = in.last && item.Op == syntax.Break
			u.stmts(item.Stmts, at)
		}
	case *syntax.FuncDecl:
		u.stmt(c.Body, scope{})
	case *syntax.TimeClause:
		if c.Stmt != nil {
			in.last = false
			u.stmt(c.Stmt, in)
		}
	}
	u.substitutions(st)
}

func (u *lacks) binary(c *syntax.BinaryCmd, in scope) {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		u.stmt(c.X, scope{apart: true})
		u.stmt(c.Y, scope{apart: true})
		return
	}
	first := in
	first.last = false
	u.stmt(c.X, first)
	u.stmt(c.Y, in)
}

func (u *lacks) branches(c *syntax.IfClause, in scope) {
	for ; c != nil; c = c.Else {
		u.stmts(c.Cond, scope{loop: in.loop, apart: in.apart})
		u.stmts(c.Then, in)
	}
}

// leaves refuses break and continue where more would follow, and traps that would be lost.
func (u *lacks) leaves(c *syntax.CallExpr, in scope) {
	if len(c.Args) == 0 {
		return
	}
	switch name := c.Args[0].Lit(); name {
	case "break", "continue":
		if !in.loop || !in.last || len(c.Args) > 1 {
			u.lack("%s where more follows in a block, or out of several loops", name)
		}
	case "trap":
		if in.apart {
			u.lack("a trap in a shell of its own, as in ( ) and pipes")
		}
	case "shift":
		if len(c.Args) > 1 && c.Args[1].Lit() != "1" {
			u.lack("shift by a number")
		}
	}
}

// failing refuses what ends the shell under set -e, and does not end bash: a compound whose
// last && did not get to its end, and what is not.
func (u *lacks) failing(st *syntax.Stmt) {
	if _, call := st.Cmd.(*syntax.CallExpr); st.Negated && !call {
		u.lack("! before more than one command under set -e")
	}
	for _, list := range listsOf(st.Cmd) {
		if len(list) == 0 {
			continue
		}
		last := list[len(list)-1]
		if b, ok := last.Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.AndStmt && !last.Background {
			u.lack("&& at the end of a block under set -e")
		}
	}
}

// listsOf are the lists of a compound command, but of ( ) and functions, whose status
// counts for bash too.
func listsOf(c syntax.Command) (lists [][]*syntax.Stmt) {
	switch c := c.(type) {
	case *syntax.Block:
		lists = append(lists, c.Stmts)
	case *syntax.WhileClause:
		lists = append(lists, c.Do)
	case *syntax.ForClause:
		lists = append(lists, c.Do)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			lists = append(lists, c.Then)
		}
	case *syntax.CaseClause:
		for _, item := range c.Items {
			lists = append(lists, item.Stmts)
		}
	}
	return lists
}

// SetsErrexit reports whether a text may switch set -e on.
func SetsErrexit(file *syntax.File) (sets bool) {
	syntax.Walk(file, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		if !ok || len(c.Args) == 0 || !oneOf(c.Args[0].Lit(), "set command builtin") && c.Args[0].Lit() != "" {
			return true
		}
		for _, w := range c.Args {
			sets = sets || w.Lit() == "" || w.Lit() == "errexit" || strings.HasPrefix(w.Lit(), "-") && strings.Contains(w.Lit(), "e")
		}
		return true
	})
	return sets
}

// substitutions looks into the words of a statement.
func (u *lacks) substitutions(st *syntax.Stmt) {
	syntax.Walk(st, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			u.stmts(n.Stmts, scope{apart: true})
			return false
		case *syntax.ProcSubst:
			u.stmts(n.Stmts, scope{apart: true})
			return false
		case *syntax.Stmt:
			return n == st
		}
		return true
	})
}
