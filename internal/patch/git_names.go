package patch

import (
	"cmp"
	"strings"

	"github.com/aircoding/air/internal/fault"
)

// movedName is one of a rename or a copy, which has no a/ or b/ before it.
func (p *parser) movedName(value string) (string, error) {
	if name, rest, ok := unquote(value); ok && strings.TrimSpace(rest) == "" {
		value = name
	}
	return p.stripped(value, max(p.strip-1, 0))
}

// gitNames reads the lines --- and +++.
func (p *parser) gitNames(h *gitHeader) error {
	h.namesSeen = true
	for i, at := range []struct {
		name *string
		null *bool
	}{{&h.old, &h.oldNull}, {&h.fresh, &h.newNull}} {
		name := gitName(p.line(i)[4:])
		if name == devNull {
			*at.null = true
			continue
		}
		stripped, err := p.stripped(name, p.strip)
		if err != nil {
			return err
		}
		if *at.name != "" && *at.name != stripped {
			return p.bad("the patch calls the file %.200q here and %.200q before", stripped, *at.name)
		}
		*at.name = stripped
	}
	p.at += 2
	return nil
}

// gitName is a name as git writes it, with a tab behind it where it has blanks.
func gitName(field string) string {
	if name, _, ok := unquote(field); ok {
		return name
	}
	name, _, _ := strings.Cut(strings.TrimSuffix(field, "\r"), "\t")
	return name
}

// sameName finds the name in the line diff --git, which has it twice; "" where it has two.
func (p *parser) sameName(header string) string {
	if len(header) > 2*(maxName+maxStripped) {
		return ""
	}
	if first, rest, ok := unquote(header); ok {
		second, _, quoted := unquote(strings.TrimLeft(rest, " "))
		if !quoted {
			second = strings.TrimLeft(rest, " ")
		}
		return p.equal(first, second)
	}
	if i := strings.Index(header, ` "`); i >= 0 {
		if second, _, ok := unquote(header[i+1:]); ok {
			return p.equal(header[:i], second)
		}
	}
	for i := range len(header) {
		if header[i] == ' ' {
			if name := p.equal(header[:i], header[i+1:]); name != "" {
				return name
			}
		}
	}
	return ""
}

func (p *parser) equal(first, second string) string {
	a, errA := p.stripped(first, p.strip)
	b, errB := p.stripped(second, p.strip)
	if errA != nil || errB != nil || a != b {
		p.lost = cmp.Or(p.lost, errA)
		return ""
	}
	return a
}

// gitKind says what happens to which file, where all that was said of it fits together.
func (p *parser) gitKind(h *gitHeader, start int) (File, error) {
	f := File{Old: h.old, New: h.fresh, OldMode: h.oldMode, Mode: h.mode}
	created, deleted := h.created || h.oldNull, h.deleted || h.newNull
	if f.Old == "" && !created && !h.renamed && !h.copied {
		f.Old = h.both
	}
	if f.New == "" && !deleted && !h.renamed && !h.copied {
		f.New = h.both
	}
	if deleted && f.Old == "" {
		f.Old = h.both
	}
	switch {
	case howMany(created, deleted, h.renamed, h.copied) > 1 || created && h.old != "" || deleted && h.fresh != "":
		return f, badAt(start, "what is said of the file does not fit together: new, deleted, renamed, copied or none of these is wanted")
	case created:
		f.Kind, f.Old = Create, ""
	case deleted:
		f.Kind, f.New, f.Mode = Delete, "", 0
	case h.renamed:
		f.Kind = Rename
	case h.copied:
		f.Kind = Copy
	}
	return f, p.checkNames(&f, start)
}

// howMany are true.
func howMany(all ...bool) (n int) {
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}

func (p *parser) checkNames(f *File, start int) error {
	lacking := f.Kind != Delete && f.New == "" || f.Kind != Create && f.Old == ""
	moved := f.Kind == Rename || f.Kind == Copy
	switch {
	case lacking && fault.Is(p.lost, fault.PermissionDenied):
		return p.lost
	case lacking:
		return badAt(start, "the name of the file is missing, or nothing is left of it without its first %d parts", p.strip).WithHint("strip is how many leading parts of the names go: 1 for a/ and b/")
	case moved && f.Old == f.New:
		return badAt(start, "%s is renamed or copied to itself", f.New)
	case f.Kind == Modify && f.Old != f.New:
		return badAt(start, "the names %.200q and %.200q differ, and the patch does not say that the file is renamed", f.Old, f.New)
	}
	return nil
}
