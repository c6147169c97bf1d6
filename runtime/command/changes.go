package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// changes are what a part of the text may change in its shell, in whatever order and
// however often it runs.
type changes struct {
	names   map[string]bool // variables; true where they only get numbers
	locals  map[string]bool
	funcs   map[string]bool
	dir     bool
	params  bool
	returns bool
	all     bool // anything
}

// changesIn looks through nodes, and the functions that they may call.
func changesIn(s *shell, nodes ...syntax.Node) *changes {
	c := &changes{names: map[string]bool{}, locals: map[string]bool{}, funcs: map[string]bool{}}
	for _, n := range nodes {
		syntax.Walk(n, c.visit)
	}
	for _, body := range s.funcs {
		if body == nil {
			c.all = true
		} else {
			syntax.Walk(body, c.visit)
		}
	}
	return c
}

func (c *changes) visit(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
		return false
	case *syntax.Assign:
		if n.Name != nil {
			c.change(n.Name.Value, !n.Append && n.Index == nil && n.Array == nil && isNumeric(n.Value))
		}
	case *syntax.CallExpr:
		c.call(n)
	case *syntax.DeclClause:
		c.declare(n)
	case *syntax.WordIter:
		c.change(n.Name.Value, false)
	case *syntax.FuncDecl:
		if n.Name != nil {
			c.funcs[n.Name.Value] = true
		}
	case *syntax.ParamExp:
		if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && n.Param != nil {
			c.change(n.Param.Value, false)
		}
	case *syntax.BinaryArithm:
		if isAssignment(n.Op) {
			c.changeArithmetic(n.X)
		}
	case *syntax.UnaryArithm:
		if n.Op == syntax.Inc || n.Op == syntax.Dec {
			c.changeArithmetic(n.X)
		}
	case *syntax.Redirect:
		if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
			c.change(strings.Trim(n.N.Value, "{}"), true)
		}
	}
	return true
}

func (c *changes) change(name string, numeric bool) {
	if old, ok := c.names[name]; ok {
		numeric = numeric && old
	}
	c.names[name] = numeric
}

func (c *changes) changeArithmetic(x syntax.ArithmExpr) {
	if w, ok := x.(*syntax.Word); ok && syntax.ValidName(w.Lit()) {
		c.change(w.Lit(), true)
		return
	}
	c.all = true
}

func isNumeric(w *syntax.Word) bool {
	if w == nil || len(w.Parts) != 1 {
		return false
	}
	_, arithmetic := w.Parts[0].(*syntax.ArithmExp)
	return arithmetic || isDecimal(w.Lit())
}

// call looks for builtins by their plain names. A name that is written otherwise may be
// any of them.
func (c *changes) call(n *syntax.CallExpr) {
	for _, w := range n.Args {
		name := w.Lit()
		if name == "" || name != "[" && strings.ContainsAny(name, `\{*?[`) {
			c.all = true
			return
		}
		if name != "command" && name != "builtin" {
			c.builtin(name, n.Args)
			return
		}
	}
}

func (c *changes) builtin(name string, args []*syntax.Word) {
	switch name {
	case "cd", "pushd", "popd":
		c.dir = true
	case "set", "shift":
		c.params = true
	case "return":
		c.returns = true
	case "eval", "source", ".", "unset", "trap", "alias", "unalias":
		c.all = true
	case "read", "getopts", "mapfile", "readarray", "printf", "wait", "let", "declare", "typeset", "local", "export", "readonly":
		for _, w := range args {
			name, _, _ := strings.Cut(w.Lit(), "=")
			if syntax.ValidName(name) {
				c.change(name, false)
			} else if w.Lit() == "" && name != "printf" {
				c.all = true
			}
		}
	}
}

func (c *changes) declare(n *syntax.DeclClause) {
	for _, as := range n.Args {
		switch {
		case as.Name == nil:
			if flag := as.Value.Lit(); flag == "" || flag[0] != '-' && flag[0] != '+' {
				c.all = true
			}
		default:
			c.change(as.Name.Value, false)
			if !oneOf(n.Variant.Value, "export readonly") {
				c.locals[as.Name.Value] = true
			}
		}
	}
}

// lose forgets what may have changed.
func (s *shell) lose(c *changes) {
	for name := range c.funcs {
		s.setFunc(name, nil)
	}
	if c.all {
		s.forgetAll()
		return
	}
	for name, numeric := range c.names {
		v := value{}
		if numeric && s.vars[name].isNumber() {
			v.kind = numberValue
		}
		s.set(name, v)
	}
	if c.dir {
		s.dirs, s.back, s.stack = nil, nil, nil
	}
	if c.params {
		s.params, s.hasParams = nil, false
	}
}

func nodesOf(lists ...[]*syntax.Stmt) []syntax.Node {
	var nodes []syntax.Node
	for _, list := range lists {
		for _, st := range list {
			nodes = append(nodes, st)
		}
	}
	return nodes
}
