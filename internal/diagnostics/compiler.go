package diagnostics

import "strings"

// compiler reads what gcc, clang, javac and mypy print: "file:line:column: error: message".
// Which one it was shows in the name of the file.
type compiler struct{ *stream }

func (c *compiler) line(line string) bool {
	if c.linker(line) {
		return true
	}
	if !strings.Contains(line, ": error: ") && !strings.Contains(line, ": warning: ") &&
		!strings.Contains(line, ": note: ") && !strings.Contains(line, ": fatal error: ") {
		return false
	}
	at, ok := locate(line)
	if !ok {
		return false
	}
	level, message, ok := severity(at.rest)
	if !ok {
		return false
	}
	d := Diagnostic{Tool: "cc", Severity: level, File: c.at(at.file), Line: at.line, Column: at.column, Message: message}
	switch {
	case strings.HasSuffix(at.file, ".java"):
		d.Tool = "javac"
		if lint, rest, found := strings.Cut(message, "] "); found && strings.HasPrefix(lint, "[") {
			d.Code, d.Message = lint[1:], rest
		}
	case strings.HasSuffix(at.file, ".py") || strings.HasSuffix(at.file, ".pyi"):
		d.Tool = "mypy"
		d.Message, d.Code = bracketed(message)
	default:
		d.Message, d.Code = bracketed(message)
	}
	c.add(d)
	return true
}

// linker reads the one message of linkers that explains a failure.
func (c *compiler) linker(line string) bool {
	const undefined = "undefined reference to "
	i := strings.Index(line, undefined)
	if i < 0 {
		return false
	}
	d := Diagnostic{Tool: "ld", Severity: Error, Message: line[i:]}
	front := line[:i]
	if _, rest, found := strings.Cut(front, "ld: "); found {
		front = rest
	}
	if file, _, found := strings.Cut(front, ":"); found && isPath(file) {
		d.File = c.at(file)
		if at, ok := locate(front); ok && at.file == file {
			d.Line = at.line
		}
	}
	c.add(d)
	return true
}
