package diagnostics

import "strings"

// cmake reads "CMake Error at CMakeLists.txt:3 (project):", over an indented message.
type cmake struct {
	*stream
	found Diagnostic
}

func (c *cmake) line(line string) bool {
	if c.found.Tool != "" {
		if strings.HasPrefix(line, "  ") {
			c.found.Message += " " + strings.TrimSpace(line)
			if len(c.found.Message) < maxMessage {
				return true
			}
		}
		if line == "" && c.found.Message == "" {
			return true // a blank line stands above some messages
		}
		c.add(c.found)
		c.found = Diagnostic{}
	}
	return strings.HasPrefix(line, "CMake ") && c.head(line)
}

func (c *cmake) head(line string) bool {
	for _, level := range []string{Error, Warning} {
		rest, ok := strings.CutPrefix(strings.ToLower(line), "cmake "+level)
		if !ok {
			continue
		}
		rest = line[len(line)-len(rest):]
		rest = strings.TrimPrefix(rest, " (dev)")
		c.found = Diagnostic{Tool: "cmake", Severity: level}
		if message, ok := strings.CutPrefix(rest, ": "); ok {
			c.found.Message = message
			return true
		}
		if file, ok := strings.CutPrefix(rest, " in "); ok {
			c.found.File = c.at(strings.TrimSuffix(file, ":"))
		}
		where, command, _ := strings.Cut(strings.TrimPrefix(rest, " at "), " (")
		if at, ok := place(where); ok {
			c.found.File, c.found.Line = c.at(at.file), at.line
			c.found.Code = strings.TrimSuffix(command, "):")
		}
		return true
	}
	return false
}

// makeTool reads the errors of make, and in which folder it is.
type makeTool struct {
	*stream
	explained int    // how many errors there were at the last target that failed
	failed    string // the make that said so
}

const maxDirs = 64

func (m *makeTool) line(line string) bool {
	if strings.HasPrefix(line, "make") {
		_, said, _ := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(said, "Entering directory '") && len(m.dirs) < maxDirs:
			m.dirs = append(m.dirs, strings.TrimSuffix(strings.TrimPrefix(said, "Entering directory '"), "'"))
			return true
		case strings.HasPrefix(said, "Leaving directory '") && len(m.dirs) > 1:
			m.dirs = m.dirs[:len(m.dirs)-1]
			return true
		}
	}
	where, message, ok := strings.Cut(line, ": *** ")
	if !ok {
		return false
	}
	d := Diagnostic{Tool: "make", Severity: Error, Message: strings.TrimSuffix(message, "  Stop.")}
	at, located := place(where)
	if target, rest, ok := strings.Cut(message, "] "); ok && strings.HasPrefix(target, "[") {
		if m.told(where) {
			return true
		}
		if i := strings.LastIndex(target, ": "); i >= 0 { // [Makefile:3: all]
			at, located = place(target[1:i])
		}
		d.Message = target[1:] + ": " + rest
	} else if !located && !strings.HasPrefix(where, "make") {
		return false
	}
	if located || at.line > 0 {
		d.File, d.Line = m.at(at.file), at.line
	}
	m.add(d)
	m.explained = m.errors
	return true
}

// told reports whether a target failed for a reason that is listed already: what its command
// printed, or that of the make below.
func (m *makeTool) told(who string) bool {
	told := m.errors > m.explained || who < m.failed // make < make[1]
	m.explained, m.failed = m.errors, who
	return told
}

// ctest reads " 1/3 Test #1: name .....   Passed    0.01 sec".
type ctest struct{ *stream }

func (c *ctest) line(line string) bool {
	front, rest, ok := strings.Cut(line, " Test ")
	if !ok || !strings.Contains(front, "/") || strings.Trim(front, " 0123456789/") != "" {
		return false
	}
	_, rest, ok = strings.Cut(rest, ": ")
	if !ok {
		return false
	}
	name, verdict, ok := strings.Cut(rest, " ")
	if !ok {
		return false
	}
	t := c.tally("ctest")
	switch {
	case strings.Contains(verdict, "***Skipped"), strings.Contains(verdict, "***Not Run"):
		t.skipped++
	case strings.Contains(verdict, "***"):
		t.failed++
		c.fail(name)
	case strings.Contains(verdict, "Passed"):
		t.passed++
	}
	return true
}

// gtest reads "[  FAILED  ] Suite.Name (0 ms)" and, before it, "file:line: Failure" over the
// message.
type gtest struct {
	*stream
	found Diagnostic
}

func (g *gtest) line(line string) bool {
	if g.found.Tool != "" && g.message(line) {
		return true
	}
	if strings.HasPrefix(line, "[") {
		return g.verdict(line)
	}
	if front, ok := strings.CutSuffix(line, ": Failure"); ok {
		at, ok := place(front)
		if ok {
			g.found = Diagnostic{Tool: "gtest", Severity: Error, File: g.at(at.file), Line: at.line}
		}
		return ok
	}
	return false
}

// message takes the lines under a failure, up to the first that is blank or a verdict.
func (g *gtest) message(line string) bool {
	if line != "" && line[0] != '[' && len(g.found.Message) < maxMessage {
		g.found.Message = strings.TrimSpace(g.found.Message + " " + strings.TrimSpace(line))
		return true
	}
	g.add(g.found)
	g.found = Diagnostic{}
	return false
}

func (g *gtest) verdict(line string) bool {
	word, rest, ok := strings.Cut(line[1:], "]")
	name, took, timed := cutLast(rest, " (")
	if !ok || !timed || !strings.HasSuffix(took, " ms)") {
		return false
	}
	name, _, _ = strings.Cut(name, ", where ")
	switch strings.TrimSpace(word) {
	case "OK":
		g.tally("gtest").passed++
	case "SKIPPED":
		g.tally("gtest").skipped++
	case "FAILED":
		g.tally("gtest").failed++
		g.fail(name)
	default:
		return false
	}
	return true
}
