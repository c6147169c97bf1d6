package command

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/aircoding/air/internal/fault"
)

// checkText refuses what a person does not see when they read a command line.
func checkText(text string) error {
	if len(text) > maxText {
		return fault.New(fault.InvalidInput, "bad_command", "the command is %d bytes long, the limit is %d", len(text), maxText).
			WithHint("write a script, and run that")
	}
	if why := hiddenIn(text); why != "" {
		return fault.New(fault.InvalidInput, "bad_command", "the command holds %s, which cannot be seen when it is read", why).
			WithHint(`inside $'…' such a character can be written as \uXXXX`)
	}
	if openIn(text) > 2*maxNesting || strings.Count(text, "((")+strings.Count(text, "$[") > 5*maxNesting {
		return fault.New(fault.InvalidInput, "bad_command", "the command is nested too many levels deep, the limit is %d", maxNesting).
			WithHint("write it in several commands")
	}
	return nil
}

// openIn is how many brackets of a text are open at once, at the most, whatever they stand
// for. The parser takes long for many.
func openIn(text string) (most int) {
	open := 0
	for _, c := range []byte(text) {
		switch c {
		case '(', '[', '{':
			open++
			most = max(most, open)
		case ')', ']', '}':
			open = max(0, open-1)
		}
	}
	return most
}

// hiddenIn names the first character of a text that hides or reorders what a person reads.
func hiddenIn(text string) string {
	for i, r := range text {
		switch {
		case r >= ' ' && r <= '~', r == '\n', r == '\t':
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			return "bytes that are no UTF-8"
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || blank(r):
			return fmt.Sprintf("the character U+%04X", r)
		}
	}
	return ""
}

// blank reports whether a letter leaves no ink.
func blank(r rune) bool {
	return r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0 || r == 0x2800
}

// dialect is the language of a text.
type dialect = syntax.LangVariant

const (
	bash  = syntax.LangBash
	posix = syntax.LangPOSIX
)

// parsers keep their buffers.
var parsers = map[dialect]*sync.Pool{bash: parserPool(bash), posix: parserPool(posix)}

func parserPool(d dialect) *sync.Pool {
	return &sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(d)) }}
}

func parseText(text string, d dialect) (*syntax.File, error) {
	p := parsers[d].Get().(*syntax.Parser)
	defer parsers[d].Put(p)
	return p.Parse(strings.NewReader(text), "")
}

// checkSize bounds the syntax tree before anything follows it.
func checkSize(file *syntax.File) error {
	var size treeSize
	syntax.Walk(file, size.visit)
	switch {
	case size.commands > maxCommands:
		return fault.New(fault.InvalidInput, "bad_command", "the command line holds %d commands, the limit is %d", size.commands, maxCommands).
			WithHint("write a script, and run that")
	case size.deepest > maxNesting:
		return fault.New(fault.InvalidInput, "bad_command", "the command is nested %d levels deep, the limit is %d", size.deepest, maxNesting).
			WithHint("write it in several commands")
	}
	return nil
}

// treeSize counts while the tree is walked, which tells the end of each node by nil.
type treeSize struct {
	commands, depth, deepest int
	open                     []bool
}

func (t *treeSize) visit(node syntax.Node) bool {
	if node == nil {
		last := len(t.open) - 1
		if t.open[last] {
			t.depth--
		}
		t.open = t.open[:last]
		return true
	}
	nests := false
	switch node.(type) {
	case *syntax.CallExpr, *syntax.DeclClause:
		t.commands++
	case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.FuncDecl,
		*syntax.CmdSubst, *syntax.ProcSubst, *syntax.ParamExp, *syntax.ArithmExp, *syntax.DblQuoted, *syntax.ParenArithm, *syntax.ParenTest,
		*syntax.UnaryArithm, *syntax.UnaryTest, *syntax.TimeClause, *syntax.CoprocClause:
		nests = true
		t.depth++
		t.deepest = max(t.deepest, t.depth)
	}
	t.open = append(t.open, nests)
	return true
}
