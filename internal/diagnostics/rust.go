package diagnostics

import "strings"

// rust reads what rustc, cargo and the tests of cargo print.
type rust struct {
	*stream
	found    Diagnostic // whose place has not come
	panicked bool       // its message comes
}

func (r *rust) line(line string) bool {
	switch {
	case r.panicked:
		r.panicked = false
		r.found.Message = line
		r.add(r.found)
		r.found = Diagnostic{}
		return true
	case strings.HasPrefix(line, "thread '"):
		return r.panics(line)
	case strings.HasPrefix(line, "test "):
		return r.tested(line)
	}
	return r.arrow(line) || r.head(line)
}

// head is "error[E0308]: message" or "warning: message". Only the place that follows tells
// that it is a compiler's.
func (r *rust) head(line string) bool {
	r.found = Diagnostic{}
	for _, level := range []string{Error, Warning} {
		rest, ok := strings.CutPrefix(line, level)
		if !ok {
			continue
		}
		if code, message, found := strings.Cut(rest, "]: "); found && strings.HasPrefix(code, "[") {
			r.found = Diagnostic{Tool: "rustc", Severity: level, Code: code[1:], Message: message}
		} else if message, found := strings.CutPrefix(rest, ": "); found {
			r.found = Diagnostic{Tool: "rustc", Severity: level, Message: message}
		}
	}
	return false // another tool's, if no place follows
}

// arrow is "  --> src/main.rs:2:9".
func (r *rust) arrow(line string) bool {
	where, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "--> ")
	if !ok || r.found.Message == "" {
		return false
	}
	if at, ok := place(where); ok {
		r.found.File, r.found.Line, r.found.Column = r.at(at.file), at.line, at.column
		r.add(r.found)
	}
	r.found = Diagnostic{}
	return true
}

// panics is "thread 'tests::x' panicked at src/lib.rs:10:9:", and the message follows.
func (r *rust) panics(line string) bool {
	_, where, ok := strings.Cut(line, " panicked at ")
	if !ok {
		return false
	}
	at, ok := place(strings.TrimSuffix(where, ":"))
	if !ok {
		return false
	}
	r.panicked = true
	r.found = Diagnostic{Tool: "cargo test", Severity: Error, File: r.at(at.file), Line: at.line, Column: at.column}
	return true
}

func (r *rust) tested(line string) bool {
	if rest, ok := strings.CutPrefix(line, "test result: "); ok {
		_, counts, _ := strings.Cut(rest, ". ")
		t := r.tally("cargo test")
		t.passed += count(counts, "passed")
		t.failed += count(counts, "failed")
		t.skipped += count(counts, "ignored")
		return true
	}
	name, ok := strings.CutSuffix(strings.TrimPrefix(line, "test "), " ... FAILED")
	if ok {
		r.fail(name)
	}
	return ok
}
