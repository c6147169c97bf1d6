package diagnostics

import "strings"

// jest reads what jest and vitest print of failed tests, and their counts.
type jest struct {
	*stream
	tool    string // which of them
	message string // of the failed test whose place has not come
	waits   bool   // for it
}

func (j *jest) line(line string) bool {
	trimmed := strings.TrimSpace(line)
	if name, ok := strings.CutPrefix(line, "  ● "); ok {
		return j.failed("jest", name)
	}
	if name, ok := strings.CutPrefix(line, " FAIL  "); ok {
		if strings.Contains(name, " > ") {
			return j.failed("vitest", name)
		}
		return true
	}
	if j.waits && j.detail(trimmed) {
		return true
	}
	if rest, ok := strings.CutPrefix(trimmed, "Tests"); ok {
		return j.counts(rest)
	}
	return false
}

func (j *jest) failed(tool, name string) bool {
	j.fail(name)
	j.tool, j.message, j.waits = tool, "", true
	return true
}

// detail is the first line under a failed test's name, and then its place in the file.
func (j *jest) detail(line string) bool {
	if j.message == "" {
		j.message = line
		return line != ""
	}
	where, ok := strings.CutPrefix(line, "❯ ")
	if !ok {
		if where, ok = strings.CutPrefix(line, "at "); !ok {
			return false
		}
		if _, inside, found := strings.Cut(where, "("); found {
			where = strings.TrimSuffix(inside, ")")
		}
	}
	if _, last, found := cutLast(where, " "); found { // vitest names a function in front
		where = last
	}
	at, ok := place(where)
	if !ok || strings.Contains(at.file, "node_modules/") {
		return false
	}
	j.add(Diagnostic{Tool: j.tool, Severity: Error, File: j.at(at.file), Line: at.line, Column: at.column, Message: j.message})
	j.message, j.waits = "", false
	return true
}

// counts is ":  1 failed, 2 passed, 3 total" of jest, "  1 failed | 2 passed (3)" of vitest.
func (j *jest) counts(rest string) bool {
	colon := strings.HasPrefix(rest, ":")
	rest = strings.TrimPrefix(rest, ":")
	if !strings.HasPrefix(rest, "  ") && !colon {
		return false
	}
	passed, failed := count(rest, "passed"), count(rest, "failed")
	skipped := count(rest, "skipped") + count(rest, "todo")
	if passed+failed+skipped == 0 {
		return false
	}
	t := j.tally("jest")
	t.passed += passed
	t.failed += failed
	t.skipped += skipped
	return true
}
