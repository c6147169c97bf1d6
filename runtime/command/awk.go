package command

import (
	"strings"

	"github.com/aircoding/air/internal/lazyregexp"
	"github.com/aircoding/air/runtime/permission"
)

const awkOptions spec = "F,field-separator= v,assign= f,file= e,source= b,characters-as-bytes c,traditional C,copyright N,use-lc-numeric " +
	"n,non-decimal-data O,optimize P,posix r,re-interval S,sandbox s,no-optimize t,lint-old csv k"

// awk is known as far as its program does no more than print, also to files that it
// names.
func awk(c *simple, f *finding) {
	a := f.parse(c, awkOptions, stop)
	rest := a.operands
	var scripts []word
	for _, o := range a.flags {
		if o.name == "source" {
			scripts = append(scripts, o.value)
		}
	}
	if len(scripts) == 0 && !a.has("file") && len(rest) > 0 {
		scripts, rest = rest[:1], rest[1:]
	}
	for _, s := range scripts {
		f.awkScript(s)
	}
	if script, given := a.value("file"); given {
		f.executes(script)
	}
	for _, w := range rest {
		if !assignment.MatchString(w.text) {
			f.readFile(w)
		}
	}
}

var assignment = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)

func (f *finding) awkScript(script word) {
	if script.unknown || script.pattern {
		f.raise(permission.RiskOpaque, "the program of awk cannot be known before it runs")
		return
	}
	if awkPrints(script.text) {
		return
	}
	tokens, ok := awkTokens(script.text)
	if !ok {
		f.raise(permission.RiskOpaque, "air cannot read the program of awk")
		return
	}
	prints, depth := false, 0
	for i, t := range tokens {
		switch {
		case awkActs[t]:
			f.raise(permission.RiskOpaque, "the program of awk uses "+t+": it may run commands, or read files that it names itself")
		case t == "print" || t == "printf":
			prints, depth = true, 0
		case t == ";" || t == "\n" || t == "}" || t == "{":
			prints = false
		case t == "(":
			depth++
		case t == ")":
			depth = max(depth-1, 0)
		case prints && depth == 0 && (t == ">" || t == ">>"):
			f.awkOutput(tokens[i+1:])
		}
	}
}

// awkPrints reports whether nothing in a program, however it is read, does more than
// print.
func awkPrints(text string) bool {
	for act := range awkActs {
		if act != "|" && strings.Contains(text, act) {
			return false
		}
	}
	return !strings.ContainsAny(strings.ReplaceAll(text, "||", ""), "|>")
}

var awkActs = set("system getline | |& @ ARGV ARGC ENVIRON SYMTAB close fflush")

// awkOutput is what a print writes to: a string alone, or what cannot be known.
func (f *finding) awkOutput(rest []string) {
	alone := len(rest) > 0 && strings.HasPrefix(rest[0], `"`) && !strings.Contains(rest[0], `\`) &&
		(len(rest) == 1 || rest[1] == ";" || rest[1] == "\n" || rest[1] == "}")
	if !alone {
		f.raise(permission.RiskOpaque, "the program of awk writes files whose names cannot be known before it runs")
		return
	}
	f.writeFile(word{text: strings.Trim(rest[0], `"`)})
}

// awkTokens splits a program into names, strings, patterns and marks. Strings keep a
// quote in front, patterns become "/".
func awkTokens(text string) (tokens []string, ok bool) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\\':
			i++
		case c == '#':
			i += prefix(text[i:], func(c byte) bool { return c != '\n' })
		case c == '"':
			end := closing(text[i:])
			if end < 0 {
				return nil, false
			}
			tokens, i = append(tokens, text[i:i+end]), i+end
		case c == '/':
			end := 1
			pattern, sure := slash(tokens)
			if pattern {
				end = closing(text[i:])
			}
			if end < 0 || !sure {
				return nil, false
			}
			mark := "]" // like what else may be divided
			if !pattern {
				mark = "/"
			}
			tokens, i = append(tokens, mark), i+end
		case letter(c):
			n := prefix(text[i:], func(c byte) bool { return letter(c) || c >= '0' && c <= '9' })
			tokens, i = append(tokens, text[i:i+n]), i+n
		default:
			n := 1
			if i+1 < len(text) && oneOf(text[i:i+2], "|| |& && >= >> <=") {
				n = 2
			}
			tokens, i = append(tokens, text[i:i+n]), i+n
		}
	}
	return tokens, true
}

// prefix is how many bytes at the beginning are of a sort.
func prefix(text string, is func(byte) bool) int {
	for i := range len(text) {
		if !is(text[i]) {
			return i
		}
	}
	return len(text)
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// slash says what a / after the tokens is: the beginning of a pattern, a division, or
// one of both.
func slash(tokens []string) (pattern, sure bool) {
	if len(tokens) == 0 {
		return true, true
	}
	last := tokens[len(tokens)-1]
	switch c := last[0]; {
	case awkWords[last] || strings.IndexByte("(,{};!~&|\n=", c) >= 0:
		return true, true
	case letter(c) || c >= '0' && c <= '9' || c == ']' || c == '"':
		return false, true
	}
	return false, false
}

var awkWords = set("return print printf in else do case exit delete BEGIN END")

// closing is the length of a string or pattern with both its marks, -1 where versions of
// awk may see its end in different places.
func closing(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\n':
			return -1
		case '[':
			if text[0] != '/' {
				continue
			}
			n, ok := bracket(text[i:])
			if !ok {
				return -1
			}
			i += n - 1
		case text[0]:
			return i + 1
		}
	}
	return -1
}

// bracket is the length of the bracket expression that a text begins with. The delimiter
// of the pattern has no meaning in it: whatever takes it for the end is left with a
// pattern that is none. It is not ok where it may end in different places.
func bracket(text string) (n int, ok bool) {
	i := 1
	if strings.HasPrefix(text[i:], "^") {
		i++
	}
	if strings.HasPrefix(text[i:], "]") {
		i++
	}
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == ']':
			return i + 1, true
		case c == '\n', c == '\\' && strings.HasPrefix(text[i+1:], "]"):
			return 0, false
		case c == '[' && i+1 < len(text) && strings.IndexByte(":.=", text[i+1]) >= 0:
			end := strings.Index(text[i+2:], text[i+1:i+2]+"]")
			if end < 0 {
				return 0, false
			}
			i += end + 3
		}
	}
	return 0, false
}
