package permission

import (
	"slices"
	"strings"
)

// covers reports whether the matcher matches all that another one does. Where that does
// not follow from their texts it says no.
func (m *matcher) covers(o *matcher) bool {
	switch {
	case m.argv != nil:
		return o.argv != nil && m.argv.covers(o.argv)
	case m.net != nil:
		return o.net != nil && m.net.covers(o.net)
	case m.text == o.text:
		return true
	case m.pattern == nil:
		return false
	case isLiteral(o.text):
		return m.matches(target{text: sample(o.text, "")})
	case !strings.HasPrefix(o.prefix, m.prefix) || !strings.HasSuffix(o.suffix, m.suffix), !plainGlob(m.text):
		return false
	}
	own, ok := segments(m.text)
	if !ok {
		return false
	}
	alternatives, ok := withoutBraces(o.text)
	return ok && !slices.ContainsFunc(alternatives, func(text string) bool {
		if isLiteral(text) {
			return !m.matches(target{text: sample(text, "")})
		}
		other, _ := segments(text)
		return !takes(own, other, isAnyFolders, takesSegment)
	})
}

func isLiteral(pattern string) bool { return !strings.ContainsAny(unescaped(pattern), meta) }

// takes matches the symbols of one pattern with those of another: a symbol that is many
// takes any run of them, another one what one says.
func takes[T any](own, other []T, many func(T) bool, one func(own, other T) bool) bool {
	i, back, taken := 0, -1, 0
	for at := 0; at < len(other); {
		switch {
		case i < len(own) && many(own[i]):
			back, taken = i, at
			i++
		case i < len(own) && !many(other[at]) && one(own[i], other[at]):
			i, at = i+1, at+1
		case back >= 0:
			taken++
			i, at = back+1, taken
		default:
			return false
		}
	}
	return !slices.ContainsFunc(own[i:], func(s T) bool { return !many(s) })
}

// symbol is what a pattern has for one character, or for many.
type symbol struct {
	sort byte // 'c' a character, '?', '*', '[' a class
	char rune
}

// symbols reads a pattern without braces.
func symbols(text string) []symbol {
	var list []symbol
	for i, runes := 0, []rune(text); i < len(runes); i++ {
		switch c := runes[i]; {
		case c == '\\' && i+1 < len(runes):
			i++
			list = append(list, symbol{'c', runes[i]})
		case c == '*' || c == '?':
			list = append(list, symbol{byte(c), 0})
		case c == '[':
			list = append(list, symbol{'[', 0})
			for i++; i < len(runes) && runes[i] != ']'; i++ {
				if runes[i] == '\\' {
					i++
				}
			}
		default:
			list = append(list, symbol{'c', c})
		}
	}
	return list
}

func isAnyCharacters(s symbol) bool { return s.sort == '*' }

func takesCharacter(own, other symbol) bool {
	return own.sort == '?' || own.sort == 'c' && own == other
}

// plainGlob reports whether doublestar takes a pattern to mean what it seems to: without
// classes and braces, and with no more stars in a row than mean something.
func plainGlob(text string) bool {
	return !strings.ContainsAny(unescaped(text), "[]{}") && !strings.Contains(text, "***") && !strings.Contains(text+"/", "**/**/")
}

// segment is one name of a path pattern.
type segment struct {
	anyFolders bool
	loose      bool // with all that follows: it has a class, which doublestar lets match a slash
	symbols    []symbol
}

// segments reads a pattern without braces, up to the first segment that is loose, and
// tells whether none is.
func segments(text string) (list []segment, ok bool) {
	for _, name := range strings.Split(text, "/") {
		if strings.Contains(unescaped(name), "[") || strings.HasSuffix(name, `\`) {
			return append(list, segment{loose: true}), false
		}
		list = append(list, segment{anyFolders: name == "**", symbols: symbols(name)})
	}
	return list, true
}

func isAnyFolders(s segment) bool { return s.anyFolders }

func takesSegment(own, other segment) bool {
	return !other.loose && takes(own.symbols, other.symbols, isAnyCharacters, takesCharacter)
}

// withoutBraces lists the patterns that one with braces stands for. It is not ok where
// braces and classes are mixed.
func withoutBraces(text string) (list []string, ok bool) {
	open, end, commas := firstBraces(text)
	switch {
	case open < 0:
		return []string{text}, true
	case end < 0 || strings.Contains(unescaped(text), "["):
		return nil, false
	}
	from := open + 1
	for _, to := range append(commas, end) {
		more, ok := withoutBraces(text[:open] + text[from:to] + text[end+1:])
		if !ok {
			return nil, false
		}
		list, from = append(list, more...), to+1
	}
	return list, true
}

// firstBraces finds the first pair of braces and the commas between its alternatives.
func firstBraces(text string) (open, end int, commas []int) {
	open, depth := -1, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '{':
			if depth++; open < 0 {
				open = i
			}
		case c == ',' && depth == 1:
			commas = append(commas, i)
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return open, i, commas
			}
		}
	}
	return open, -1, nil
}

func (p *argvPattern) covers(o *argvPattern) bool {
	return takes(p.words, o.words, func(w wordPattern) bool { return w.any }, takesWord)
}

func takesWord(own, other wordPattern) bool {
	switch {
	case other.literal():
		return own.matches(&word{other.text, flat(other.text)})
	case own.literal():
		return false
	case own.text == other.text:
		return true
	case !strings.HasPrefix(other.prefix, own.prefix) || !strings.HasSuffix(other.suffix, own.suffix), !plainGlob(own.text):
		return false
	}
	alternatives, ok := withoutBraces(other.text)
	return ok && !slices.ContainsFunc(alternatives, func(text string) bool {
		return !takes(symbols(own.text), symbols(text), isAnyCharacters, takesCharacter)
	})
}

func (p *netPattern) covers(o *netPattern) bool {
	return (p.scheme == "*" || p.scheme == o.scheme) && (p.port == "*" || p.port == o.port) && (p.host == "*" || p.host == o.host || o.host != "*" && p.matchesHost(o.host))
}
