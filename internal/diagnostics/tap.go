package diagnostics

import "strings"

// tap reads the Test Anything Protocol, and the counts at the end of node's test runner.
type tap struct {
	*stream
	failed *tapFailure // whose details come
	spec   *tapFailure // likewise, in the list at the end of node's reports for people
}

// tapFailure is a test that failed, and what the block of YAML under it says.
type tapFailure struct {
	name    string
	found   Diagnostic
	message bool // the lines that come are the error's
	parent  bool // it failed because one below it did
}

func (t *tap) line(line string) bool {
	trimmed := strings.TrimSpace(line)
	if t.failed != nil {
		if t.detail(trimmed) {
			return true
		}
		t.close()
	}
	for _, mark := range []string{"# ", "ℹ "} {
		if rest, ok := strings.CutPrefix(trimmed, mark); ok {
			return t.summary(rest)
		}
	}
	if t.listed(trimmed) {
		return true
	}
	top := line != "" && line[0] != ' '
	if rest, ok := strings.CutPrefix(trimmed, "not ok "); ok {
		return t.judged(false, rest, top)
	}
	rest, ok := strings.CutPrefix(trimmed, "ok ")
	return ok && t.judged(true, rest, top)
}

// judged is "2 - name", with "# SKIP" or "# TODO" behind it. What is indented is counted
// with the test above it.
func (t *tap) judged(passed bool, rest string, top bool) bool {
	_, name, ok := number(rest)
	if !ok {
		return false
	}
	name, directive, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(name), "- "), " # ")
	directive = strings.ToUpper(directive)
	excused := strings.HasPrefix(directive, "SKIP") || strings.HasPrefix(directive, "TODO")
	if !passed && !excused {
		t.failed = &tapFailure{name: name, found: Diagnostic{Tool: "tap", Severity: Error}}
	}
	if !top {
		return true
	}
	counts := t.tally("tap")
	switch {
	case excused:
		counts.skipped++
	case passed:
		counts.passed++
	default:
		counts.failed++
	}
	return true
}

// detail is a line of the block under a failed test, from "---" to "...".
func (t *tap) detail(line string) bool {
	f := t.failed
	key, value, _ := strings.Cut(line, ": ")
	value = strings.Trim(value, `'"`)
	switch {
	case line == "...":
		t.close()
	case key == "location" || key == "at":
		if at, ok := place(value); ok {
			f.found.File, f.found.Line, f.found.Column = t.at(at.file), at.line, at.column
		}
	case key == "failureType":
		f.parent = value == "subtestsFailed"
	case key == "code":
		f.message, f.found.Code = false, value
	case key == "error" && strings.HasPrefix(value, "|"):
		f.message = true
	case key == "error" || key == "message":
		f.found.Message = value
	case f.message && len(f.found.Message) < maxMessage:
		f.found.Message = strings.TrimSpace(f.found.Message + " " + line)
	default:
		return line == "---" || !strings.HasPrefix(line, "ok ") && !strings.HasPrefix(line, "not ok ") && !strings.HasPrefix(line, "# ")
	}
	return true
}

func (t *tap) close() {
	f := t.failed
	t.failed = nil
	if f.parent {
		return
	}
	t.fail(f.name)
	if f.found.File != "" {
		t.add(f.found)
	}
}

// listed is "test at a.test.js:3:1", over "✖ name (1 ms)", over the message.
func (t *tap) listed(line string) bool {
	if where, ok := strings.CutPrefix(line, "test at "); ok {
		at, ok := place(where)
		if ok {
			t.spec = &tapFailure{found: Diagnostic{Tool: "node", Severity: Error, File: t.at(at.file), Line: at.line, Column: at.column}}
		}
		return ok
	}
	if t.spec == nil || line == "" {
		return false
	}
	if t.spec.name == "" {
		name, ok := strings.CutPrefix(line, "✖ ")
		if before, _, timed := cutLast(name, " ("); timed {
			name = before
		}
		t.spec.name = name
		t.fail(name)
		return ok
	}
	t.spec.found.Message = line
	t.add(t.spec.found)
	t.spec = nil
	return true
}

// summary is "tests 3", "pass 2" or "fail 1", which node prints at the end.
func (t *tap) summary(rest string) bool {
	word, value, _ := strings.Cut(rest, " ")
	n, after, ok := number(value)
	if !ok || after != "" {
		return false
	}
	switch word {
	case "pass":
		t.tally("node").passed += n
	case "fail", "cancelled":
		t.tally("node").failed += n
	case "skipped", "todo":
		t.tally("node").skipped += n
	case "tests", "suites":
	default:
		return false
	}
	return true
}
