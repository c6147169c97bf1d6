package interpret

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/aircoding/air/runtime/command"
)

// prepare changes a syntax tree so that the interpreter does with it what bash does with the
// text.
func prepare(file *syntax.File) {
	p := &preparation{errexit: command.SetsErrexit(file), jobs: map[syntax.Node]bool{}}
	syntax.Walk(file, p.visit)
}

type preparation struct {
	errexit bool
	times   int
	jobs    map[syntax.Node]bool // background statements that are prepared, and their numbers
}

func (p *preparation) visit(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.Stmt:
		if t, ok := n.Cmd.(*syntax.TimeClause); ok {
			n.Cmd = p.timed(t)
		}
		if n.Background && !p.jobs[n] {
			p.job(n)
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			n.Y = apart(n.Y)
		}
	case *syntax.Assign:
		literal(n.Value)
		if n.Array != nil {
			for _, e := range n.Array.Elems {
				if e.Index != nil {
					literal(e.Value)
				}
			}
		}
	case *syntax.Redirect:
		redirect(n)
	case *syntax.CaseClause:
		literal(n.Word)
	case *syntax.BinaryTest:
		testWord(n.X)
		if n.Op != syntax.TsReMatch && n.Op != syntax.TsMatch && n.Op != syntax.TsMatchShort && n.Op != syntax.TsNoMatch {
			testWord(n.Y)
		}
	case *syntax.UnaryTest:
		testWord(n.X)
	case *syntax.CmdSubst:
		p.substitution(n)
	case *syntax.ParamExp:
		if n.Param != nil && n.Param.Value == "!" && !p.jobs[n] {
			n.Param.Value = lastJob
		}
	}
	return true
}

// apart makes the last part of a pipe a shell of its own, as the others are.
func apart(st *syntax.Stmt) *syntax.Stmt {
	if b, ok := st.Cmd.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) && len(st.Redirs) == 0 {
		return st // whose own last part is one
	}
	at := st.Pos()
	return &syntax.Stmt{Position: at, Cmd: &syntax.Subshell{Lparen: at, Rparen: at, Stmts: []*syntax.Stmt{st}}}
}

func testWord(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok {
		literal(w)
	}
}

// literal makes the backslashes of a word quote, which the interpreter only does for words
// that it splits.
func literal(w *syntax.Word) {
	if w == nil {
		return
	}
	var parts []syntax.WordPart
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || !strings.Contains(lit.Value, `\`) {
			parts = append(parts, part)
			continue
		}
		parts = append(parts, quotedParts(lit)...)
	}
	w.Parts = parts
}

func quotedParts(lit *syntax.Lit) (parts []syntax.WordPart) {
	text := lit.Value
	for {
		at := strings.IndexByte(text, '\\')
		if at < 0 || at+1 == len(text) {
			break
		}
		if at > 0 {
			parts = append(parts, &syntax.Lit{ValuePos: lit.ValuePos, ValueEnd: lit.ValueEnd, Value: text[:at]})
		}
		size := 1
		for at+1+size < len(text) && text[at+1+size]&0xc0 == 0x80 {
			size++
		}
		if quoted := text[at+1 : at+1+size]; quoted != "\n" {
			parts = append(parts, &syntax.SglQuoted{Left: lit.ValuePos, Right: lit.ValueEnd, Value: quoted})
		}
		text = text[at+1+size:]
	}
	if text != "" {
		parts = append(parts, &syntax.Lit{ValuePos: lit.ValuePos, ValueEnd: lit.ValueEnd, Value: text})
	}
	return parts
}

func redirect(r *syntax.Redirect) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return
	case syntax.RdrClob: // as no file is kept from being overwritten
		r.Op = syntax.RdrOut
	case syntax.DplOut:
		if to := r.Word.Lit(); r.N == nil && to != "-" && strings.Trim(to, "0123456789") != "" {
			r.Op = syntax.RdrAll
		}
	}
	literal(r.Word)
}

// timed puts time around a statement as two commands of the interpreter.
func (p *preparation) timed(t *syntax.TimeClause) syntax.Command {
	p.times++
	at := t.Time
	number, posix := strconv.Itoa(p.times), ""
	if t.PosixFormat {
		posix = "p"
	}
	stmts := []*syntax.Stmt{ownCommand(at, own+"begin", number)}
	if t.Stmt != nil {
		stmts = append(stmts, t.Stmt)
	}
	return &syntax.Block{Lbrace: at, Rbrace: at, Stmts: append(stmts, ownCommand(at, own+"end", number, posix))}
}

func ownCommand(at syntax.Pos, words ...string) *syntax.Stmt {
	call := &syntax.CallExpr{}
	for _, w := range words {
		call.Args = append(call.Args, &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Left: at, Right: at, Value: w}}})
	}
	return &syntax.Stmt{Position: at, Cmd: call}
}

// job puts commands of the interpreter around a background job, by which it knows what
// belongs to the job: { job; { STATEMENT; ended; } & started $!; }
func (p *preparation) job(st *syntax.Stmt) {
	at, inner := st.Pos(), *st
	inner.Background = false
	job := &syntax.Stmt{Position: at, Background: true, Cmd: &syntax.Block{Lbrace: at, Rbrace: at, Stmts: []*syntax.Stmt{&inner, ownCommand(at, own+"ended")}}}
	number := &syntax.ParamExp{Dollar: at, Short: true, Param: &syntax.Lit{ValuePos: at, ValueEnd: at, Value: "!"}}
	p.jobs[job], p.jobs[number] = true, true
	started := ownCommand(at, own+"started")
	call := started.Cmd.(*syntax.CallExpr)
	call.Args = append(call.Args, &syntax.Word{Parts: []syntax.WordPart{number}})
	*st = syntax.Stmt{Position: at, Cmd: &syntax.Block{Lbrace: at, Rbrace: at, Stmts: []*syntax.Stmt{ownCommand(at, own+"job"), job, started}}}
}

// substitution ends set -e at the start of $( ), as bash does.
func (p *preparation) substitution(c *syntax.CmdSubst) {
	if !p.errexit || len(c.Stmts) == 0 {
		return
	}
	if first := c.Stmts[0]; len(c.Stmts) == 1 && first.Cmd == nil {
		return // $(<file)
	}
	at := c.Stmts[0].Pos()
	lit := func(text string) *syntax.Word {
		return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: at, ValueEnd: at, Value: text}}}
	}
	off := &syntax.Stmt{Position: at, Cmd: &syntax.CallExpr{Args: []*syntax.Word{lit("set"), lit("+e")}}}
	c.Stmts = append([]*syntax.Stmt{off}, c.Stmts...)
}
