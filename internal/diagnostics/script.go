package diagnostics

import "strings"

// typescript reads what tsc prints: "a.ts(3,5): error TS2322: message", and with --pretty
// "a.ts:3:5 - error TS2322: message".
type typescript struct{ *stream }

func (t *typescript) line(line string) bool {
	i := strings.Index(line, " TS")
	if i < 0 {
		return false
	}
	front, level, ok := cutLast(line[:i], " ")
	if !ok || level != Error && level != Warning {
		return false
	}
	code, message, ok := strings.Cut(line[i+1:], ": ")
	if !ok {
		return false
	}
	at, ok := typescriptPlace(front)
	if !ok && front != "" {
		return false
	}
	t.add(Diagnostic{Tool: "tsc", Severity: level, File: t.at(at.file), Line: at.line, Column: at.column, Message: message, Code: code})
	return true
}

func typescriptPlace(s string) (at location, ok bool) {
	if pretty, ok := strings.CutSuffix(s, " -"); ok {
		return place(pretty)
	}
	file, numbers, ok := cutLast(strings.TrimSuffix(s, "):"), "(")
	if !ok || !strings.HasSuffix(s, "):") {
		return at, false
	}
	line, column, ok := strings.Cut(numbers, ",")
	if !ok {
		return at, false
	}
	return place(file + ":" + line + ":" + column)
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

// eslint reads its two formats. In stylish, a file's name stands over what was found in it.
type eslint struct {
	*stream
	file string
}

func (e *eslint) line(line string) bool {
	switch {
	case line == "":
		e.file = ""
		return false
	case line[0] == '/' && !strings.Contains(line, ":"):
		e.file = line
		return false
	case line[0] == ' ' && e.file != "":
		return e.stylish(strings.TrimLeft(line, " "))
	}
	return e.unix(line)
}

// stylish is "3:10  error  message  rule", in columns that two blanks part.
func (e *eslint) stylish(line string) bool {
	row, rest, ok := number(line)
	if !ok || !strings.HasPrefix(rest, ":") {
		return false
	}
	column, rest, ok := number(rest[1:])
	if !ok {
		return false
	}
	level, rest, ok := strings.Cut(strings.TrimLeft(rest, " "), "  ")
	level = strings.TrimSpace(level)
	if !ok || level != Error && level != Warning {
		return false
	}
	d := Diagnostic{Tool: "eslint", Severity: level, File: e.at(e.file), Line: row, Column: column, Message: rest}
	if message, rule, ok := cutLast(strings.TrimRight(rest, " "), "  "); ok {
		d.Message, d.Code = message, rule
	}
	e.add(d)
	return true
}

// unix is "/p/a.js:3:10: message [Error/rule]".
func (e *eslint) unix(line string) bool {
	if !strings.HasSuffix(line, "]") {
		return false
	}
	message, bracket := bracketed(line)
	level, rule, _ := strings.Cut(bracket, "/")
	level = strings.ToLower(level)
	if level != Error && level != Warning {
		return false
	}
	at, ok := locate(message)
	if !ok {
		return false
	}
	e.add(Diagnostic{Tool: "eslint", Severity: level, File: e.at(at.file), Line: at.line, Column: at.column, Message: at.rest, Code: rule})
	return true
}
