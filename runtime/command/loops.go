package command

import "mvdan.cc/sh/v3/syntax"

func (a *analysis) while(s *shell, w *syntax.WhileClause) {
	s.lose(changesIn(s, nodesOf(w.Cond, w.Do)...))
	body := s.clone()
	otherwise := a.stmts(body, w.Cond)
	if w.Until && otherwise != nil {
		body = otherwise
	}
	a.whole(body, w.Do)
}

func (a *analysis) forClause(s *shell, f *syntax.ForClause) {
	switch loop := f.Loop.(type) {
	case *syntax.CStyleLoop:
		a.cStyle(s, f, loop)
	case *syntax.WordIter:
		a.forWords(s, f, loop)
	}
}

func (a *analysis) cStyle(s *shell, f *syntax.ForClause, loop *syntax.CStyleLoop) {
	if loop.Init != nil {
		a.arithmetic(s, loop.Init)
	}
	nodes := nodesOf(f.Do)
	for _, x := range []syntax.ArithmExpr{loop.Cond, loop.Post} {
		if x != nil {
			nodes = append(nodes, x)
		}
	}
	s.lose(changesIn(s, nodes...))
	body := s.clone()
	if loop.Cond != nil {
		a.arithmetic(body, loop.Cond)
	}
	a.whole(body, f.Do)
	if loop.Post != nil {
		a.arithmetic(body, loop.Post)
	}
}

// maxTurns is up to how many turns of a loop are followed one by one.
const maxTurns = 16

func (a *analysis) forWords(s *shell, f *syntax.ForClause, loop *syntax.WordIter) {
	name := loop.Name.Value
	values := []value{{}}
	switch {
	case f.Select:
		a.fields(s, loop.Items)
		a.assign(s, "REPLY", value{})
	case loop.InPos.IsValid():
		values = turns(a.fields(s, loop.Items))
	case s.hasParams && len(s.params) > 0 && len(s.params) <= maxTurns:
		values = s.params
	}
	s.lose(changesIn(s, nodesOf(f.Do)...))
	for _, v := range values {
		body := s.clone()
		a.assign(body, name, v)
		a.whole(body, f.Do)
	}
	a.assign(s, name, value{})
}

// turns are the values of a loop's variable; one for all where there are too many, or
// one is not known.
func turns(words []word) []value {
	joint := value{kind: numberValue}
	var values []value
	for _, w := range words {
		v := value{kind: textValue, text: w.text}
		switch {
		case w.unknown:
			v = value{}
		case w.pattern:
			v.kind = globValue
		}
		if !v.isNumber() {
			joint = value{}
		}
		values = append(values, v)
	}
	if len(values) == 0 || len(values) > maxTurns {
		return []value{joint}
	}
	return values
}
