package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declare follows declare, local, export, readonly and typeset.
func (a *analysis) declare(s *shell, d *syntax.DeclClause) {
	variant := d.Variant.Value
	if variant == "nameref" {
		a.unknown("a reference to a variable gives names another meaning")
	}
	flags := ""
	for _, as := range d.Args {
		if as.Name == nil {
			flag := as.Value.Lit()
			if flag == "" || !strings.ContainsAny(flag[:1], "-+") {
				a.literal(s, as.Value)
				a.unknown(notKnown("which variable " + s.written(as.Value) + " names"))
				s.forgetAll()
				continue
			}
			flags += flag
			a.declareFlags(variant, flag)
			continue
		}
		a.declareName(s, variant, flags, as)
	}
}

// declareFlags refuses to know what changes how a variable is read: as arithmetic, or as
// the name of another one.
func (a *analysis) declareFlags(variant, flag string) {
	for _, letter := range strings.TrimLeft(flag, "-+") {
		switch {
		case strings.ContainsRune("xrgpaA-", letter):
		case letter == 'n' && variant == "export":
		default:
			a.unknown(variant + " " + flag + " changes how the shell reads a variable or a function")
		}
	}
}

func (a *analysis) declareName(s *shell, variant, flags string, as *syntax.Assign) {
	name := as.Name.Value
	if as.Naked {
		if as.Index != nil {
			a.arrayIndex(s, as.Index)
		}
		a.noteEnv(name, value{})
		if variant == "export" || strings.Contains(flags, "x") {
			a.noteExport(name, a.get(s, name))
		}
		if variant != "export" && variant != "readonly" {
			a.assign(s, name, value{})
		} else if variant == "readonly" {
			a.fix(s, name)
		}
		return
	}
	if strings.Contains(flags, "A") && as.Array != nil {
		a.keys(s, as.Array)
		a.assign(s, name, value{})
	} else {
		a.assignment(s, as)
	}
	if variant == "export" || strings.Contains(flags, "x") {
		a.noteExport(name, a.get(s, name))
	}
	if variant == "local" && !s.inFunc { // which fails, and changes nothing
		a.assign(s, name, value{})
	}
	if variant == "readonly" || strings.Contains(flags, "r") {
		a.fix(s, name)
	}
}

// keys follows the elements of an array by name.
func (a *analysis) keys(s *shell, array *syntax.ArrayExpr) {
	for _, e := range array.Elems {
		if w, ok := e.Index.(*syntax.Word); ok {
			a.literal(s, w)
		} else if e.Index != nil {
			a.arrayIndex(s, e.Index)
		}
		if e.Value != nil {
			a.literal(s, e.Value)
		}
	}
}

func (a *analysis) fix(s *shell, name string) {
	v := a.get(s, name)
	v.fixed = true
	s.set(name, v)
}
