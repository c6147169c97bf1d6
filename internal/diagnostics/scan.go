package diagnostics

import "strings"

// location is a place in a file, as "file:line:column: rest" or "file:line: rest".
type location struct {
	file         string
	line, column int
	rest         string // behind the last colon, trimmed
}

// locate finds the place that a line begins with.
func locate(s string) (at location, ok bool) {
	for i := 1; i < len(s); i++ {
		if s[i] != ':' {
			continue
		}
		line, after, ok := number(s[i+1:])
		if !ok || !strings.HasPrefix(after, ":") {
			continue
		}
		at = location{file: s[:i], line: line, rest: strings.TrimSpace(after[1:])}
		if column, after, ok := number(after[1:]); ok && (after == "" || after[0] == ':') {
			at.column, at.rest = column, strings.TrimSpace(strings.TrimPrefix(after, ":"))
		}
		return at, isPath(at.file)
	}
	return at, false
}

// place is "file:line:column" or "file:line", and nothing else.
func place(s string) (at location, ok bool) {
	at, ok = locate(strings.TrimSpace(s) + ":")
	return at, ok && at.rest == ""
}

// isPath tells a file's name from a time of day and from prose.
func isPath(s string) bool {
	if s == "" || s[0] == ' ' || strings.Contains(s, ": ") {
		return false
	}
	return strings.ContainsAny(s, "./") || s[0] > '9' && !strings.Contains(s, " ")
}

// number reads the digits that a text begins with.
func number(s string) (n int, rest string, ok bool) {
	i := 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		if n = n*10 + int(s[i]-'0'); n > maxNumber {
			return 0, s, false
		}
	}
	return n, s[i:], i > 0
}

// count is the number in front of a word: 3 in "3 passed", for "passed".
func count(s, word string) int {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(",;|()=", r) }) {
		n, rest, ok := number(strings.TrimSpace(part))
		if rest, isWord := strings.CutPrefix(rest, " "+word); ok && isWord && (rest == "" || rest[0] == ' ' || rest == "s") {
			return n
		}
	}
	return 0
}

// bracketed splits off a last "[code]".
func bracketed(s string) (message, code string) {
	open := strings.LastIndex(s, " [")
	if open < 0 || !strings.HasSuffix(s, "]") {
		return s, ""
	}
	return s[:open], s[open+2 : len(s)-1]
}

// severity splits off the word that says how bad it is.
func severity(s string) (level, message string, ok bool) {
	for _, w := range []struct{ word, level string }{
		{"error: ", Error}, {"fatal error: ", Error}, {"warning: ", Warning}, {"note: ", Note},
	} {
		if rest, ok := strings.CutPrefix(s, w.word); ok {
			return w.level, rest, true
		}
	}
	return "", s, false
}
