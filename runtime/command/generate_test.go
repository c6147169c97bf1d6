package command

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator writes scripts from a grammar, with little names that often meet: what is a
// program, a variable, a function or a folder in one place is another of them elsewhere.
type generator struct {
	*rand.Rand
	depth int
	here  []string // here-documents whose text follows at the end of the line
}

func (g *generator) pick(all ...string) string { return all[g.IntN(len(all))] }

func (g *generator) script() string {
	var b strings.Builder
	for range 1 + g.IntN(5) {
		b.WriteString(g.stmt())
		b.WriteString(g.end())
	}
	return b.String()
}

// end ends a line, with the here-documents that were begun on it.
func (g *generator) end() string {
	text := "\n" + strings.Join(g.here, "")
	g.here = nil
	return text
}

func (g *generator) stmts() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.stmt())
		b.WriteString(g.end())
	}
	return b.String()
}

func (g *generator) stmt() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 4 {
		return g.simple()
	}
	switch g.IntN(24) {
	case 0:
		return g.stmt() + " && " + g.stmt()
	case 1:
		return g.stmt() + " || " + g.stmt()
	case 2:
		return g.stmt() + " | " + g.stmt()
	case 3:
		return "(" + g.stmts() + ")" + g.redirect()
	case 4:
		return "{ " + g.stmts() + "}" + g.redirect()
	case 5:
		return "if " + g.stmt() + g.end() + "then " + g.stmts() + g.pick("", "else "+g.stmts()) + "fi"
	case 6:
		return "for " + g.name() + " in " + g.words() + "; do " + g.stmts() + "done"
	case 7:
		return "while " + g.stmt() + g.end() + "do " + g.stmts() + g.pick("break\n", "exit\n") + "done"
	case 8:
		return "case " + g.word() + " in " + g.word() + ") " + g.stmts() + g.pick(";;", ";&", ";;&") + "\n*) " + g.stmts() + ";; esac"
	case 9:
		return g.function() + "() { " + g.stmts() + "}"
	case 10:
		return "! " + g.simple()
	case 11, 12:
		return g.assign()
	case 13:
		return g.pick("export ", "readonly ", "declare ", "local ") + g.assign()
	}
	return g.simple()
}

func (g *generator) name() string     { return g.pick("X", "Y", "Z", "HOME") }
func (g *generator) function() string { return g.pick("f", "g", "ls", "cd") }

func (g *generator) assign() string {
	return g.name() + g.pick("=", "=", "=", "+=") + g.pick(g.word(), `"`+g.pick("rm a", "a b", "", "*", "cat")+`"`, "rm", "$(("+g.sum()+"))")
}

func (g *generator) sum() string {
	return g.pick("1+2", "3*(4-1)", "X+1", "$Y", "X=2", "X++", "1/0")
}

func (g *generator) simple() string {
	text := g.pick("", "", "", "", g.assign()+" ") + g.command()
	return text + g.redirect()
}

func (g *generator) command() string {
	switch g.IntN(22) {
	case 0, 1, 2:
		return "cd " + g.pick("d", "..", "/d/e", "-", g.word())
	case 3:
		return g.pick("exit", "exit 1", "return", "return 2", "break", "continue")
	case 4:
		return "set -- " + g.words()
	case 5:
		return g.pick("shift", "set -e", "pushd d", "popd", "unset X", "true", "false", "set -f", "shopt -s nullglob")
	case 6:
		return g.pick("command ", "builtin ", "exec ") + g.command()
	case 7:
		return g.function() + " " + g.words()
	case 8:
		return g.pick("eval ", "read ", "read X", "trap ", "jobs -x ") + g.words()
	case 9:
		return g.word() + " " + g.words()
	}
	return g.pick("rm", "cat", "touch", "rm -r", "ls", "echo", "$X", "${X}", `"$Y"`, "$Z", "r''m", "[") + " " + g.words()
}

func (g *generator) words() string {
	var all []string
	for range g.IntN(3) {
		all = append(all, g.word())
	}
	return strings.Join(all, " ")
}

func (g *generator) word() string {
	word := g.part()
	for g.IntN(3) == 0 {
		word += g.part()
	}
	return word
}

func (g *generator) part() string {
	switch g.IntN(20) {
	case 0, 1, 2:
		return g.pick("a", "b", "c.txt", "-r", "d/e", "rm", "cat")
	case 3:
		return "$" + g.name()
	case 4:
		return "${" + g.name() + g.pick("", ":-a", "-b", ":=c", "%t", "#c", "/a/b", ":1", ":+x") + "}"
	case 5:
		return `"$` + g.name() + `"`
	case 6:
		return g.pick("$1", "$2", `"$@"`, "$@", "$*", `"$*"`, "$#", "$?")
	case 7:
		return g.pick("~", "~/a", "~+")
	case 8:
		return g.pick("*", "d/*", "[ab]", "*.txt", "?")
	case 9:
		return g.pick("{a,b}", "{1..3}", "{a,$X}", "{rm,a}")
	case 10:
		return "$(" + g.pick("pwd", "echo a", g.command()) + ")"
	case 11:
		return "$((" + g.sum() + "))"
	case 12:
		return g.pick(`$'a\tb'`, `$'\x72m'`, `$'\u0061'`, `\a`, `a\ b`, `\*`)
	case 13:
		return g.pick(`'a b'`, `''`, `""`, `"a$X"`, `"$X b"`, `'$X'`, `"\$X"`)
	}
	return g.pick("a", "b", "rm", "d")
}

func (g *generator) redirect() string {
	switch g.IntN(12) {
	case 0:
		return " > " + g.word()
	case 1:
		return " < " + g.pick("a", "d/a", "$X")
	case 2:
		return g.pick(" 2>&1", " >/dev/null", " >> a", " &> b", " 2> d/c", " >&2")
	case 3:
		mark := fmt.Sprintf("E%d", g.IntN(1000))
		g.here = append(g.here, "a $X $(cat b)\n"+mark+"\n")
		return " << " + mark
	case 4:
		return " <<< " + g.word()
	}
	return ""
}
