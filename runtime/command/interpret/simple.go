package interpret

import (
	"strings"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// Simple returns the words of a command line that is one program with its arguments, all of
// them written out: one that means the same without a shell. The shell's own commands are
// none, but for the two that every program of their name equals.
func Simple(text string) (words []string, ok bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "command")
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil, false
	}
	for _, w := range call.Args {
		word, ok := literalWord(w)
		if !ok {
			return nil, false
		}
		words = append(words, word)
	}
	return words, words[0] != "" && (words[0] == "true" || words[0] == "false" || !interp.IsBuiltin(words[0]))
}

// literalWord is a word of which no shell makes another.
func literalWord(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\~*?[]{}!+^$`") {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			text, ok := literalQuoted(p)
			if !ok {
				return "", false
			}
			b.WriteString(text)
		default:
			return "", false
		}
	}
	return b.String(), true
}

func literalQuoted(q *syntax.DblQuoted) (string, bool) {
	var b strings.Builder
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if q.Dollar || !ok || strings.ContainsAny(lit.Value, "\\$`!") {
			return "", false
		}
		b.WriteString(lit.Value)
	}
	return b.String(), true
}
