package permission

import "slices"

// Bounds are the files that all capabilities in a chain of callers declared to read, and
// to write.
type Bounds struct {
	paths       *Paths
	read, write []scope
}

// scope is what one capability declared for reading or for writing.
type scope struct {
	whole    bool // the project
	patterns []bound
}

type bound struct {
	matcher
	head string // the folder, or file, that all lies in
}

// BoundsOf returns the bounds of a chain, nil where each in it declared the whole project.
func (p *Paths) BoundsOf(chain []Caller) *Bounds {
	b := &Bounds{paths: p}
	whole := true
	for i := range chain {
		c := &chain[i]
		read, write := p.scopeOf(c.Permissions.Read, c.Scopes.Read), p.scopeOf(c.Permissions.Write, c.Scopes.Write)
		whole = whole && read.whole && write.whole
		b.read, b.write = append(b.read, read), append(b.write, write)
	}
	if whole {
		return nil
	}
	return b
}

func (p *Paths) scopeOf(flag bool, patterns []string) scope {
	s := scope{whole: flag && patterns == nil}
	if !flag {
		return s
	}
	for _, pattern := range patterns {
		absolute := p.expand(pattern)
		if m, err := newMatcher(absolute); err == nil && absolute != "" {
			head, _ := literalHead(m.text)
			s.patterns = append(s.patterns, bound{m, head})
		}
	}
	return s
}

func (b *Bounds) scopes(kind Kind) []scope {
	if kind == Read {
		return b.read
	}
	return b.write
}

// May reports whether a canonical path is within the bounds.
func (b *Bounds) May(kind Kind, canonical string) bool {
	t := targetOf(kind, canonical)
	return b.each(kind, canonical, func(m *bound) bool { return m.matches(t) })
}

// All reports whether all that may lie below a folder is within the bounds. Where that
// does not follow from their texts it says no.
func (b *Bounds) All(kind Kind, dir string) bool {
	all, err := newMatcher(escape(dir) + "/**")
	return err == nil && b.each(kind, dir, func(m *bound) bool { return m.covers(&all) })
}

// Reaches reports whether something below a folder may be within the bounds.
func (b *Bounds) Reaches(kind Kind, dir string) bool {
	dir = normal(dir)
	return b.each(kind, dir, func(m *bound) bool { return within(m.head, dir) || within(dir, m.head) })
}

// each asks about a path of all scopes.
func (b *Bounds) each(kind Kind, path string, yes func(*bound) bool) bool {
	return !slices.ContainsFunc(b.scopes(kind), func(s scope) bool {
		if s.whole {
			return !b.paths.InProject(path)
		}
		for i := range s.patterns {
			if yes(&s.patterns[i]) {
				return false
			}
		}
		return true
	})
}
