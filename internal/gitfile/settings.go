package gitfile

import (
	"errors"
	"strings"
)

// Setting is one line of a configuration. Section and Key are in lower case, as git folds
// them; Sub is the subsection.
type Setting struct {
	Section, Sub, Key, Value string
	HasSub                   bool // also where Sub is ""
	// Bare marks a key without a value, which is true.
	Bare bool
}

// errSyntax says that git would not read a configuration.
var errSyntax = errors.New("it is no configuration of git")

// Settings reads a configuration in the syntax of git-config(1), without what it includes.
// With an error it returns what stands before the part that git would not read.
func Settings(text string) (all []Setting, err error) {
	r := &reader{left: strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")}
	var in Setting
	if strings.IndexByte(r.left, 0) >= 0 {
		return nil, errSyntax
	}
	for {
		r.skip(" \t\n")
		c := r.peek()
		switch {
		case c == 0:
			return all, nil
		case c == '#' || c == ';':
			r.line()
		case c == '[':
			in, err = r.section()
		default:
			var s Setting
			if s, err = r.setting(in); err == nil {
				all = append(all, s)
			}
		}
		if err != nil {
			return all, err
		}
	}
}

type reader struct{ left string }

// peek is the next byte, 0 at the end.
func (r *reader) peek() byte {
	if r.left == "" {
		return 0
	}
	return r.left[0]
}

func (r *reader) next() byte {
	c := r.peek()
	if r.left != "" {
		r.left = r.left[1:]
	}
	return c
}

func (r *reader) skip(set string) { r.left = strings.TrimLeft(r.left, set) }

// line skips the rest of a line.
func (r *reader) line() {
	_, r.left, _ = strings.Cut(r.left, "\n")
}

// word takes the characters of a name, in lower case.
func (r *reader) word(more string) string {
	end := 0
	for end < len(r.left) && (isNamed(r.left[end]) || strings.IndexByte(more, r.left[end]) >= 0) {
		end++
	}
	word := strings.ToLower(r.left[:end])
	r.left = r.left[end:]
	return word
}

func isNamed(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-'
}

// section reads [name], [name.sub] or [name "sub"].
func (r *reader) section() (Setting, error) {
	r.next()
	name := r.word(".")
	s := Setting{}
	s.Section, s.Sub, s.HasSub = strings.Cut(name, ".")
	c := r.next()
	if c == ' ' || c == '\t' {
		r.skip(" \t")
		if r.next() != '"' {
			return s, errSyntax
		}
		sub, err := r.quoted()
		if err != nil {
			return s, err
		}
		s.Section, s.Sub, s.HasSub, c = name, sub, true, r.next()
	}
	if c != ']' || name == "" {
		return s, errSyntax
	}
	return s, nil
}

// quoted reads a subsection up to its quote.
func (r *reader) quoted() (string, error) {
	var b strings.Builder
	for {
		c := r.next()
		if c == '\\' {
			c = r.next()
		} else if c == '"' {
			return b.String(), nil
		}
		if c == 0 || c == '\n' {
			return "", errSyntax
		}
		b.WriteByte(c)
	}
}

// setting reads a key, and its value if it has one.
func (r *reader) setting(in Setting) (Setting, error) {
	in.Key = r.word("")
	if in.Key == "" || in.Key[0] < 'a' || in.Key[0] > 'z' {
		return in, errSyntax
	}
	r.skip(" \t")
	switch r.peek() {
	case 0, '\n':
		in.Bare = true
		return in, nil
	case '=':
		r.next()
		var err error
		in.Value, err = r.value()
		return in, err
	}
	return in, errSyntax
}

// escapes are those of a value.
var escapes = map[byte]string{'n': "\n", 't': "\t", 'b': "\b", '"': `"`, '\\': `\`, '\n': ""}

// value reads to the end of the line, and on behind a backslash. Blanks at its ends count
// only in quotes.
func (r *reader) value() (string, error) {
	var b strings.Builder
	quoted, kept := false, 0
	r.skip(" \t")
	for {
		switch c := r.next(); {
		case c == '\n' || c == 0:
			if quoted {
				return "", errSyntax
			}
			return b.String()[:kept], nil
		case c == '"':
			quoted = !quoted
			continue
		case !quoted && (c == '#' || c == ';'):
			r.line()
			return b.String()[:kept], nil
		case c == '\\':
			text, ok := escapes[r.peek()]
			if !ok {
				return "", errSyntax
			}
			r.next()
			b.WriteString(text)
		case !quoted && (c == ' ' || c == '\t'):
			b.WriteByte(c)
			continue
		default:
			b.WriteByte(c)
		}
		kept = b.Len()
	}
}
