package command

import (
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

const sedOptions spec = "n,quiet,silent e,expression= f,file=< E,r,regexp-extended i,in-place=? s,separate u,unbuffered z,null-data " +
	"l,line-length= posix follow-symlinks sandbox debug b,binary"

// sed is known as far as its script can be read: with no commands but those that change
// text, read and write files.
func sed(c *simple, f *finding) {
	a := f.parse(c, sedOptions, 0)
	files := a.operands
	var scripts []word
	for _, o := range a.flags {
		if o.name == "expression" {
			scripts = append(scripts, o.value)
		}
	}
	switch {
	case a.has("file"):
		script, _ := a.value("file")
		f.executes(script)
	case len(scripts) == 0 && len(files) > 0:
		scripts, files = files[:1], files[1:]
	}
	f.sedScripts(scripts)
	suffix, inPlace := a.value("in-place")
	for _, w := range files {
		f.readFile(w)
		if inPlace {
			f.writeFile(w)
		}
		if suffix.text != "" {
			f.writeFile(backup(w, suffix))
		}
	}
}

// backup is the name under which sed keeps a file: * in the suffix stands for its name.
func backup(w, suffix word) word {
	w.unknown = w.unknown || suffix.unknown
	name := base(w.text)
	if !strings.Contains(suffix.text, "*") {
		w.text += suffix.text
		return w
	}
	text := strings.ReplaceAll(suffix.text, "*", name)
	if !strings.Contains(text, "/") {
		text = strings.TrimSuffix(w.text, name) + text
	}
	w.text = text
	return w
}

func (f *finding) sedScripts(scripts []word) {
	var text []string
	for _, w := range scripts {
		if w.unknown || w.pattern {
			f.raise(permission.RiskOpaque, "the script of sed cannot be known before it runs")
			return
		}
		text = append(text, w.text)
	}
	s := sedScript{rest: strings.Join(text, "\n"), f: f}
	if !s.read() {
		f.raise(permission.RiskOpaque, "air cannot read the script of sed")
	}
	if s.runs {
		f.raise(permission.RiskOpaque, "the script of sed runs commands")
	}
}

// sedScript reads a script command by command.
type sedScript struct {
	rest string
	runs bool
	f    *finding
}

// read reports whether it could read all.
func (s *sedScript) read() bool {
	for {
		s.rest = strings.TrimLeft(s.rest, " \t\n;")
		if s.rest == "" {
			return true
		}
		if !s.addresses() || s.rest == "" || !s.command() {
			return false
		}
	}
}

// addresses reads up to the command: lines, patterns, steps and !.
func (s *sedScript) addresses() bool {
	for s.rest != "" {
		switch c := s.rest[0]; {
		case c >= '0' && c <= '9' || strings.IndexByte("$,+~! \t", c) >= 0:
			s.rest = s.rest[1:]
		case c == '/' || c == '\\':
			if c == '\\' {
				s.rest = s.rest[1:]
			}
			if s.rest == "" || !s.delimited(s.rest[0], 1) {
				return false
			}
			s.rest = strings.TrimLeft(s.rest, "IM")
		default:
			return true
		}
	}
	return true
}

// delimited skips patterns that end with the delimiter, which is also what comes first.
func (s *sedScript) delimited(delimiter byte, parts int) bool {
	if delimiter == '\n' || delimiter == '\\' || delimiter >= 0x80 {
		return false
	}
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '\\':
			i++
		case c == '\n':
			return false
		case c == delimiter:
			if parts--; parts == 0 {
				s.rest = s.rest[i+1:]
				return true
			}
		case c == '[':
			n, ok := bracket(s.rest[i:])
			if !ok {
				return false
			}
			i += n - 1
		}
	}
	return false
}

func (s *sedScript) command() bool {
	c := s.rest[0]
	switch {
	case c == 's':
		s.rest = s.rest[1:]
		return s.rest != "" && s.substitute()
	case c == 'y':
		s.rest = s.rest[1:]
		return s.rest != "" && s.delimited(s.rest[0], 2)
	case strings.IndexByte("{}=dDgGhHnNpPxzF", c) >= 0:
		s.rest = s.rest[1:]
		return true
	case strings.IndexByte("lLqQ", c) >= 0:
		s.rest = strings.TrimLeft(s.rest[1:], " 0123456789")
		return true
	case strings.IndexByte(":btT", c) >= 0:
		return s.label()
	case c == '#':
		s.skipTo("\n")
		return true
	case strings.IndexByte("aic", c) >= 0:
		s.text()
		return true
	case strings.IndexByte("rRwW", c) >= 0:
		s.rest = s.rest[1:]
		s.file(c == 'w' || c == 'W')
		return true
	case c == 'e':
		s.runs = true
	}
	return false
}

// label skips a name that all versions of sed see the same end of.
func (s *sedScript) label() bool {
	s.rest = strings.TrimLeft(s.rest[1:], " ")
	s.rest = strings.TrimLeft(s.rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
	s.rest = strings.TrimLeft(s.rest, " ")
	return s.rest == "" || strings.IndexByte("\n;}", s.rest[0]) >= 0
}

func (s *sedScript) substitute() bool {
	delimiter := s.rest[0]
	if !s.substituted(delimiter) {
		return false
	}
	for s.rest != "" {
		switch c := s.rest[0]; {
		case strings.IndexByte("gpiImM0123456789", c) >= 0:
			s.rest = s.rest[1:]
		case c == 'e':
			s.runs = true
			return false
		case c == 'w':
			s.rest = s.rest[1:]
			s.file(true)
			return true
		default:
			return strings.IndexByte(" \t\n;}", c) >= 0
		}
	}
	return true
}

// substituted skips the pattern, in which brackets have a meaning, and the replacement,
// in which they have none.
func (s *sedScript) substituted(delimiter byte) bool {
	if !s.delimited(delimiter, 1) {
		return false
	}
	for i := 0; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case '\n':
			return false
		case delimiter:
			s.rest = s.rest[i+1:]
			return true
		}
	}
	return false
}

func (s *sedScript) skipTo(ends string) {
	end := strings.IndexAny(s.rest, ends)
	if end < 0 {
		end = len(s.rest)
	}
	s.rest = s.rest[end:]
}

// text skips the lines of a, i and c: all but the last end with a backslash.
func (s *sedScript) text() {
	for i := 1; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case '\n':
			s.rest = s.rest[i:]
			return
		}
	}
	s.rest = ""
}

// file takes the name of a file, which is the rest of the line.
func (s *sedScript) file(written bool) {
	line := s.rest
	s.skipTo("\n")
	line = strings.TrimLeft(line[:len(line)-len(s.rest)], " \t")
	if written {
		s.f.writeFile(word{text: line})
	} else {
		s.f.readFile(word{text: line})
	}
}
