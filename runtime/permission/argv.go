package permission

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// JoinArgv writes the words of a command so that a shell reads the same words again, in
// one way only: words of letters, digits and harmless marks bare, the others in single
// quotes.
func JoinArgv(argv []string) string {
	var b strings.Builder
	for i, word := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		quote(&b, word, i == 0)
	}
	return b.String()
}

// quote writes one word. The first is not bare where a shell would take it for an
// assignment.
func quote(b *strings.Builder, word string, first bool) {
	if word != "" && !strings.ContainsFunc(word, needsQuotes) && !(first && strings.Contains(word, "=")) {
		b.WriteString(word)
		return
	}
	b.WriteByte('\'')
	b.WriteString(strings.ReplaceAll(word, `'`, `'\''`))
	b.WriteByte('\'')
}

func needsQuotes(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_@%+=:,./-", r)
}

// SplitArgv reads the words of a run effect's target, or of a simple command without
// anything that a shell expands.
func SplitArgv(target string) ([]string, error) {
	argv := make([]string, 0, strings.Count(target, " ")+1)
	for rest := target; ; {
		raw, after, err := nextWord(rest)
		if err != nil {
			return nil, err
		}
		if raw == "" {
			return argv, nil
		}
		argv, rest = append(argv, unquote(raw, asIs)), after
	}
}

// nextWord returns the text of the first word, quotes and all, and what follows. It is ""
// where there is no word.
func nextWord(text string) (raw, after string, err error) {
	text = strings.TrimLeft(text, " ")
	n := 0
	for n < len(text) && text[n] != ' ' {
		if isBare[text[n]] {
			n++
			continue
		}
		size, err := pieceLength(text[n:])
		if err != nil {
			return "", "", err
		}
		n += size
	}
	return text[:n], text[n:], nil
}

// isBare has the bytes of words that JoinArgv does not quote.
var isBare = func() (set [256]bool) {
	for c := range byte(utf8.RuneSelf) {
		set[c] = !needsQuotes(rune(c))
	}
	return set
}()

// pieceLength is the length of what one word begins with: a part in quotes, an escaped
// character, or a bare one.
func pieceLength(text string) (int, error) {
	switch c := text[0]; {
	case c == '\'':
		end := strings.IndexByte(text[1:], '\'')
		if end < 0 {
			return 0, fmt.Errorf("%.120q has a quote that does not end", text)
		}
		return end + 2, nil
	case c == '\\':
		_, size := utf8.DecodeRuneInString(text[1:])
		if size == 0 {
			return 0, fmt.Errorf("a backslash stands at the end")
		}
		return 1 + size, nil
	case strings.IndexByte("\"$`;|&<>()\t\r\n", c) >= 0:
		return 0, fmt.Errorf("%q is no part of a word of one command after expansion: put it in single quotes if it is meant as it is", string(c))
	}
	return 1, nil
}

func asIs(text string) string { return text }

// unquote takes the quotes from the text of a word, whose quoted and escaped parts go
// through literal.
func unquote(raw string, literal func(string) string) string {
	if strings.IndexByte(raw, '\'') < 0 && strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	if inner, ok := strings.CutPrefix(raw, "'"); ok && strings.IndexByte(inner, '\'') == len(inner)-1 {
		return literal(inner[:len(inner)-1])
	}
	var b strings.Builder
	for n := 0; n < len(raw); {
		size, err := pieceLength(raw[n:])
		if err != nil { // nextWord has read it already
			break
		}
		switch piece := raw[n : n+size]; piece[0] {
		case '\'':
			b.WriteString(literal(piece[1 : size-1]))
		case '\\':
			b.WriteString(literal(piece[1:]))
		default:
			b.WriteString(piece)
		}
		n += size
	}
	return b.String()
}

// hasWildcard reports whether a word has wildcards that are neither quoted nor escaped.
// {}, which find and xargs replace, is a word like others.
func hasWildcard(raw string) bool {
	return raw != "{}" && strings.ContainsAny(unquote(raw, func(string) string { return "" }), meta)
}

// checkArgv refuses a run effect's target that SplitArgv and JoinArgv do not agree on, or
// that has characters which no command is shown with.
func checkArgv(target string) bool {
	argv, err := SplitArgv(target)
	return err == nil && len(argv) > 0 && !strings.ContainsFunc(target, isControl) && JoinArgv(argv) == target
}

func isControl(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }
