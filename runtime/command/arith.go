package command

import (
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// arithmetic follows an expression. Of a variable that is not known to be a number, bash
// evaluates the text, which may hold commands.
func (a *analysis) arithmetic(s *shell, x syntax.ArithmExpr) value {
	if n, ok := a.compute(s, x); ok {
		return value{kind: textValue, text: strconv.FormatInt(n, 10)}
	}
	a.arith(s, x, true)
	return value{kind: numberValue}
}

// arith checks what a shell would evaluate. always says that the part is evaluated for
// certain.
func (a *analysis) arith(s *shell, x syntax.ArithmExpr, always bool) {
	switch x := x.(type) {
	case *syntax.Word:
		a.number(s, x)
	case *syntax.ParenArithm:
		a.arith(s, x.X, always)
	case *syntax.UnaryArithm:
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			a.number(s, x.X)
			a.becomesNumber(s, x.X, false)
			return
		}
		a.arith(s, x.X, always)
	case *syntax.BinaryArithm:
		a.binaryArith(s, x, always)
	default:
		a.unknown("arithmetic that air does not know")
	}
}

func (a *analysis) binaryArith(s *shell, x *syntax.BinaryArithm, always bool) {
	switch {
	case x.Op == syntax.Assgn:
		a.arith(s, x.Y, false)
		_, plain := a.compute(s, x.Y)
		a.becomesNumber(s, x.X, always && plain)
	case isAssignment(x.Op):
		a.number(s, x.X)
		a.arith(s, x.Y, false)
		a.becomesNumber(s, x.X, false)
	case x.Op == syntax.Comma:
		a.arith(s, x.X, always)
		a.arith(s, x.Y, false)
	default:
		a.arith(s, x.X, false)
		a.arith(s, x.Y, false)
	}
	a.division(s, x)
}

// division is only known not to fail where what it divides by is not 0: after a failure,
// shells go on in different ways.
func (a *analysis) division(s *shell, x *syntax.BinaryArithm) {
	switch x.Op {
	case syntax.Quo, syntax.Rem, syntax.QuoAssgn, syntax.RemAssgn:
		if n, ok := a.compute(s, x.Y); !ok || n == 0 {
			a.unknown("what it divides by is not known not to be 0")
		}
	}
}

// becomesNumber notes an assignment; where it may not take place, the variable is a number
// after it only if it was one before.
func (a *analysis) becomesNumber(s *shell, x syntax.ArithmExpr, always bool) {
	w, ok := x.(*syntax.Word)
	if !ok || !syntax.ValidName(w.Lit()) {
		a.unknown("arithmetic changes a variable that cannot be known")
		s.forgetAll()
		return
	}
	v := value{}
	if always || a.get(s, w.Lit()).isNumber() {
		v.kind = numberValue
	}
	a.assign(s, w.Lit(), v)
}

// number checks one operand.
func (a *analysis) number(s *shell, x syntax.ArithmExpr) {
	w, ok := x.(*syntax.Word)
	if !ok {
		a.unknown("arithmetic that air does not know")
		return
	}
	if v := a.operand(s, w); !v.isNumber() {
		a.unknown("arithmetic evaluates " + s.written(w) + ", which is not known to be a number")
	}
}

func (a *analysis) operand(s *shell, w *syntax.Word) value {
	if name := w.Lit(); syntax.ValidName(name) {
		return a.get(s, name)
	}
	return a.literal(s, w)
}

// compute is the value of sums and products of small numbers.
func (a *analysis) compute(s *shell, x syntax.ArithmExpr) (n int64, ok bool) {
	const limit = 1 << 31
	switch x := x.(type) {
	case *syntax.Word:
		if name := x.Lit(); syntax.ValidName(name) {
			n, ok = decimal(a.get(s, name))
		} else if len(x.Parts) == 1 {
			n, ok = a.computePart(s, x.Parts[0])
		}
	case *syntax.ParenArithm:
		return a.compute(s, x.X)
	case *syntax.UnaryArithm:
		n, ok = a.compute(s, x.X)
		if n = -n; x.Op != syntax.Minus {
			return 0, false
		}
	case *syntax.BinaryArithm:
		if x.Op != syntax.Add && x.Op != syntax.Sub && x.Op != syntax.Mul {
			return 0, false
		}
		left, okLeft := a.compute(s, x.X)
		right, okRight := a.compute(s, x.Y)
		n, ok = calculate(x.Op, left, right), okLeft && okRight
	}
	return n, ok && n > -limit && n < limit
}

func (a *analysis) computePart(s *shell, part syntax.WordPart) (n int64, ok bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		return decimal(value{kind: textValue, text: p.Value})
	case *syntax.ParamExp:
		if isPlain(p) && syntax.ValidName(p.Param.Value) {
			return decimal(a.get(s, p.Param.Value))
		}
	case *syntax.ArithmExp:
		return a.compute(s, p.X)
	}
	return 0, false
}

func decimal(v value) (n int64, ok bool) {
	if v.kind != textValue || !isDecimal(v.text) {
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	return n, err == nil && n > -1<<31 && n < 1<<31
}

func calculate(op syntax.BinAritOperator, x, y int64) int64 {
	switch op {
	case syntax.Add:
		return x + y
	case syntax.Sub:
		return x - y
	}
	return x * y
}

func isAssignment(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn, syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn,
		syntax.ShlAssgn, syntax.ShrAssgn, syntax.AndBoolAssgn, syntax.OrBoolAssgn, syntax.XorBoolAssgn, syntax.PowAssgn:
		return true
	}
	return false
}
