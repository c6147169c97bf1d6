package diagnostics

import (
	"path"
	"strings"
)

// python reads tracebacks, and what unittest prints.
type python struct {
	*stream
	frame location // the last one of a traceback that is in the project, else the last
	ran   int      // tests, of which the verdict has not come
}

func (p *python) line(line string) bool {
	if p.frame.file != "" && p.exception(line) {
		return true
	}
	return p.framed(line) || p.unittest(line)
}

// framed is `  File "x.py", line 3, in name`.
func (p *python) framed(line string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " "), `File "`)
	if !ok || line[0] != ' ' {
		return false
	}
	file, rest, ok := strings.Cut(rest, `", line `)
	if !ok {
		return false
	}
	n, _, ok := number(rest)
	if ok && (p.own(file) || !p.own(p.frame.file)) {
		p.frame = location{file: file, line: n}
	}
	return ok
}

// own reports whether a file is the project's.
func (p *python) own(file string) bool { return file != "" && !path.IsAbs(p.at(file)) }

// exception is the line that ends a traceback: "ValueError: message". Lines between a frame
// and it are indented.
func (p *python) exception(line string) bool {
	if line == "" || line[0] == ' ' || line[0] == '\t' {
		return false
	}
	name, _, _ := strings.Cut(line, ": ")
	if strings.ContainsAny(name, " \"'()") || !strings.ContainsAny(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		p.frame = location{}
		return false
	}
	p.add(Diagnostic{Tool: "python", Severity: Error, File: p.at(p.frame.file), Line: p.frame.line, Message: line, Code: name})
	p.frame = location{}
	return true
}

func (p *python) unittest(line string) bool {
	for _, prefix := range []string{"FAIL: ", "ERROR: "} {
		if name, ok := strings.CutPrefix(line, prefix); ok && strings.HasSuffix(name, ")") {
			p.fail(name)
			return true
		}
	}
	if rest, ok := strings.CutPrefix(line, "Ran "); ok {
		n, rest, ok := number(rest)
		if ok && strings.HasPrefix(rest, " test") {
			p.ran = n
			p.tally("unittest")
			return true
		}
		return false
	}
	if p.ran > 0 && (line == "OK" || strings.HasPrefix(line, "OK (") || strings.HasPrefix(line, "FAILED (")) {
		p.verdict(line)
		return true
	}
	return false
}

// verdict is "FAILED (failures=1, errors=1, skipped=1)".
func (p *python) verdict(line string) {
	_, counts, _ := strings.Cut(strings.TrimSuffix(line, ")"), "(")
	failed, skipped := 0, 0
	for part := range strings.SplitSeq(counts, ", ") {
		what, value, _ := strings.Cut(part, "=")
		n, _, _ := number(value)
		switch what {
		case "failures", "errors", "unexpected successes":
			failed += n
		case "skipped":
			skipped += n
		}
	}
	t := p.tally("unittest")
	t.failed += failed
	t.skipped += skipped
	t.passed += max(p.ran-failed-skipped, 0)
	p.ran = 0
}

// pytest reads what it prints of failures, and its last line.
type pytest struct {
	*stream
	message string // of the assertion whose place has not come
}

func (p *pytest) line(line string) bool {
	if rest, ok := strings.CutPrefix(line, "E   "); ok {
		if p.message == "" {
			p.message = strings.TrimSpace(rest)
		}
		return true
	}
	for _, prefix := range []string{"FAILED ", "ERROR "} {
		if name, ok := strings.CutPrefix(line, prefix); ok && strings.Contains(name, ".py") {
			name, _, _ = strings.Cut(name, " - ")
			p.fail(name)
			return true
		}
	}
	return p.located(line) || p.summary(line)
}

// located is "tests/test_a.py:5: AssertionError", under the message.
func (p *pytest) located(line string) bool {
	if p.message == "" || !strings.Contains(line, ".py:") {
		return false
	}
	at, ok := locate(line)
	if !ok {
		return false
	}
	code := at.rest
	if strings.Contains(code, " ") {
		code = ""
	}
	p.add(Diagnostic{Tool: "pytest", Severity: Error, File: p.at(at.file), Line: at.line, Message: p.message, Code: code})
	p.message = ""
	return true
}

// summary is "=== 1 failed, 2 passed, 1 skipped in 0.12s ===", with -q without the frame.
func (p *pytest) summary(line string) bool {
	counts, took, ok := cutLast(strings.Trim(line, "= "), " in ")
	_, _, isTime := number(took)
	if !ok || !isTime || !strings.Contains(took, "s") {
		return false
	}
	if _, _, isCount := number(counts); !isCount {
		return false
	}
	passed := count(counts, "passed") + count(counts, "xfailed") + count(counts, "xpassed")
	failed := count(counts, "failed") + count(counts, "error")
	skipped := count(counts, "skipped")
	if passed+failed+skipped == 0 {
		return false
	}
	t := p.tally("pytest")
	t.passed += passed
	t.failed += failed
	t.skipped += skipped
	return true
}
