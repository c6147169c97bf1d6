package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// isPlain reports whether an expansion is $name or ${name}.
func isPlain(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Index == nil && p.Exp == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.NestedParam == nil && p.Flags == nil &&
		len(p.Modifiers) == 0 && !p.Excl && !p.Length && !p.Width && !p.IsSet
}

// isList reports whether an expansion may yield several words inside double quotes.
func isList(p *syntax.ParamExp) bool {
	return p.Param == nil || p.Param.Value == "@" || p.Names != 0 || allElements(p.Index)
}

func allElements(index syntax.ArithmExpr) bool {
	w, ok := index.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// listOf are the values of $@ and $*, where they are known.
func (a *analysis) listOf(s *shell, p *syntax.ParamExp) ([]value, bool) {
	if !isPlain(p) || p.Param.Value != "@" && p.Param.Value != "*" {
		return nil, false
	}
	return s.params, s.hasParams
}

// param is what is known of a parameter expansion.
func (a *analysis) param(s *shell, p *syntax.ParamExp) value {
	if p.Param == nil {
		a.unknown("a parameter expansion that air does not know")
		return value{}
	}
	if isPlain(p) {
		return a.parameter(s, p.Param.Value)
	}
	a.subscript(s, p)
	a.parts(s, p)
	switch {
	case p.Excl && p.Names == 0 && !allElements(p.Index):
		a.unknown("${!" + p.Param.Value + "} evaluates what " + p.Param.Value + " holds")
	case p.Length:
		return value{kind: numberValue}
	case p.Exp != nil && p.Index == nil && !p.Excl:
		return a.operator(s, p)
	}
	return value{}
}

// subscript checks the index of an array, which bash evaluates.
func (a *analysis) subscript(s *shell, p *syntax.ParamExp) {
	if p.Index == nil || allElements(p.Index) {
		return
	}
	a.arrayIndex(s, p.Index)
}

func (a *analysis) arrayIndex(s *shell, x syntax.ArithmExpr) {
	if _, ok := a.compute(s, x); !ok {
		a.unknown("the subscript of an array is evaluated")
		a.arith(s, x, false)
	}
}

// parts follows the words inside an expansion.
func (a *analysis) parts(s *shell, p *syntax.ParamExp) {
	if p.Slice != nil {
		for _, x := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
			if x != nil {
				a.arithmetic(s, x)
			}
		}
	}
	if p.Repl != nil {
		a.literal(s, p.Repl.Orig)
		a.literal(s, p.Repl.With)
	}
	if p.Exp != nil && p.Exp.Word != nil {
		a.literal(s, p.Exp.Word)
	}
}

// operator is ${name:-word} and the like.
func (a *analysis) operator(s *shell, p *syntax.ParamExp) value {
	name := p.Param.Value
	v := a.parameter(s, name)
	known := v.kind == textValue
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.ErrorUnset:
		if known {
			return v
		}
	case syntax.DefaultUnsetOrNull, syntax.ErrorUnsetOrNull:
		if known && v.text != "" {
			return v
		}
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if known && v.text != "" {
			return v
		}
		a.assign(s, name, value{})
	case syntax.OtherParamOps:
		if op := p.Exp.Word.Lit(); op == "" || strings.Contains("PE", op) {
			a.unknown("${" + name + "@P} and the like evaluate what the variable holds")
		}
	}
	return value{}
}

// parameter is the value of a variable or of a special parameter.
func (a *analysis) parameter(s *shell, name string) value {
	switch name {
	case "?", "#", "$":
		return value{kind: numberValue}
	case "@", "*", "-", "!", "0":
		return value{}
	}
	if isDigits(name) {
		return s.positional(name)
	}
	return a.get(s, name)
}

func (s *shell) positional(name string) value {
	if !s.hasParams || len(name) > 2 || name[0] == '0' {
		return value{}
	}
	n := int(name[0] - '0')
	if len(name) == 2 {
		n = 10*n + int(name[1]-'0')
	}
	if n > len(s.params) {
		return value{kind: textValue}
	}
	return s.params[n-1]
}

// commandSubst follows what $( ) runs. What that prints is known only of a text given in
// the command itself, and of pwd.
func (a *analysis) commandSubst(s *shell, c *syntax.CmdSubst) value {
	if c.TempFile || c.ReplyVar {
		a.unknown("a substitution that air does not know")
		s.forgetAll()
		return value{}
	}
	inner := s.clone()
	a.stmts(inner, c.Stmts)
	if len(c.Stmts) != 1 || c.Stmts[0].Background || c.Stmts[0].Negated {
		return value{}
	}
	st := c.Stmts[0]
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 || len(call.Assigns) > 0 {
		return value{}
	}
	name := call.Args[0].Lit()
	if _, shadowed := s.funcs[name]; shadowed || s.wild {
		return value{}
	}
	switch {
	case name == "pwd" && len(st.Redirs) == 0 && len(s.dirs) == 1:
		return a.get(s, "PWD")
	case name == "cat" && len(st.Redirs) == 1:
		if v, ok := a.document(s, st.Redirs[0]); ok {
			v.text = strings.TrimRight(v.text, "\n")
			return v
		}
	}
	return value{}
}
