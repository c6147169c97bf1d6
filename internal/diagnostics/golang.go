package diagnostics

import (
	"encoding/json"
	"strings"

	"github.com/aircoding/air/internal/text"
)

// goTool reads what go build, go vet and go test print, as text and with -json.
type goTool struct {
	*stream
	failing bool         // a failed test's messages come
	log     []Diagnostic // of a test whose verdict has not come
	posn    location     // of go vet -json, whose message has not come
	unnamed int          // where the diagnostics begin whose package has not come
}

const maxLog = 50

func (g *goTool) line(line string) bool {
	switch {
	case strings.HasPrefix(line, "{"):
		return g.jsonLine(line)
	case strings.HasPrefix(line, "=== RUN ") || strings.HasPrefix(line, "=== CONT ") || strings.HasPrefix(line, "=== NAME "):
		g.failing = false
		return true
	case g.verdict(strings.TrimLeft(line, " ")), g.message(line), g.vetJSON(strings.TrimSpace(line)), g.packageLine(line):
		return true
	}
	return g.compiled(line)
}

// compiled is "./x.go:3:5: message", with "vet: " in front where a package does not compile.
func (g *goTool) compiled(line string) bool {
	if !strings.Contains(line, ".go:") {
		return false
	}
	at, ok := locate(strings.TrimPrefix(line, "vet: "))
	if !ok || at.rest == "" || !strings.HasSuffix(at.file, ".go") || at.file[0] == '\t' {
		return false
	}
	d := Diagnostic{Tool: "go", Severity: Error, File: g.at(at.file), Line: at.line, Column: at.column, Message: at.rest}
	if level, message, ok := severity(at.rest); ok {
		d.Severity, d.Message = level, message
	}
	g.add(d)
	return true
}

// packageLine is the last line of a package's tests: "ok", "FAIL" or "?", with tabs.
func (g *goTool) packageLine(line string) bool {
	name, rest, ok := strings.Cut(line, "\t")
	if !ok || name != "FAIL" && strings.TrimRight(name, " ") != "ok" {
		return false
	}
	t := g.tally("go test")
	if t.passed == 0 {
		t.silent = true
	}
	if strings.HasSuffix(rest, "[build failed]") || strings.HasSuffix(rest, "[setup failed]") {
		t.failed++
		g.fail(strings.TrimSpace(rest))
	}
	g.failing, g.log = false, nil
	g.named(rest)
	return true
}

// named gives the messages of a package's tests its name, which comes behind them.
func (g *goTool) named(rest string) {
	name, _, _ := strings.Cut(rest, "\t")
	name, _, _ = strings.Cut(name, " ")
	for i := min(g.unnamed, len(g.list)); i < len(g.list); i++ {
		d := &g.list[i]
		if d.Tool == "go test" && d.Code == "" && g.room(0, len(name)) {
			delete(g.seen, *d)
			d.Code = text.Head(name, maxField)
			g.seen[*d] = true
		}
	}
	g.unnamed = len(g.list)
}

func (g *goTool) verdict(line string) bool {
	rest, ok := strings.CutPrefix(line, "--- ")
	if !ok {
		return false
	}
	word, name, ok := strings.Cut(rest, ": ")
	if !ok {
		return false
	}
	if i := strings.LastIndex(name, " ("); i >= 0 {
		name = name[:i]
	}
	return g.judged(strings.ToLower(word), name)
}

// judged counts a test, and says whether the word is a verdict.
func (g *goTool) judged(word, name string) bool {
	switch word {
	case "pass":
		g.tally("go test").passed++
	case "skip":
		g.tally("go test").skipped++
	case "fail":
		g.tally("go test").failed++
		g.fail(name)
		for _, d := range g.log {
			g.add(d)
		}
	default:
		return false
	}
	g.failing, g.log = word == "fail", nil
	return true
}

// message is "    x_test.go:10: message", which says nothing of the folder: the package that
// comes behind it does. Of a test that passes it is no diagnostic.
func (g *goTool) message(line string) bool {
	if !strings.HasPrefix(line, "    ") || !strings.Contains(line, ".go:") {
		return false
	}
	at, ok := locate(strings.TrimLeft(line, " "))
	if !ok || at.column != 0 || !strings.HasSuffix(at.file, ".go") || strings.Contains(at.file, "/") {
		return false
	}
	d := Diagnostic{Tool: "go test", Severity: Error, File: at.file, Line: at.line, Message: at.rest}
	switch {
	case g.failing:
		g.add(d)
	case len(g.log) < maxLog:
		g.log = append(g.log, d)
	}
	return true
}

// jsonLine is an event of go test -json or go build -json.
func (g *goTool) jsonLine(line string) bool {
	var e struct{ Action, Package, Test, Output, ImportPath, FailedBuild string }
	if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" || e.Package == "" && e.ImportPath == "" {
		return false
	}
	switch e.Action {
	case "build-output":
		g.compiled(strings.TrimSuffix(e.Output, "\n"))
	case "output":
		output := strings.TrimSuffix(e.Output, "\n")
		if !g.message(output) && e.Test == "" && strings.HasPrefix(output, "FAIL\t") {
			g.named(output[len("FAIL\t"):])
		}
	case "pass", "fail", "skip":
		switch {
		case e.Test != "":
			g.judged(e.Action, e.Package+"."+e.Test)
			g.failing = false
		case e.FailedBuild != "":
			g.tally("go test").failed++
			g.fail(e.Package + " [build failed]")
		}
	}
	return true
}

// vetJSON reads the two lines of go vet -json that count, of an object over many lines.
func (g *goTool) vetJSON(line string) bool {
	if value, ok := strings.CutPrefix(line, `"posn": `); ok {
		g.posn, _ = place(unquoted(value))
		return true
	}
	value, ok := strings.CutPrefix(line, `"message": `)
	if !ok || g.posn.file == "" {
		return false
	}
	g.add(Diagnostic{Tool: "go vet", Severity: Error, File: g.at(g.posn.file), Line: g.posn.line, Column: g.posn.column, Message: unquoted(value)})
	g.posn = location{}
	return true
}

// unquoted is a JSON string that a comma may follow.
func unquoted(s string) (value string) {
	if json.Unmarshal([]byte(strings.TrimSuffix(s, ",")), &value) != nil {
		return ""
	}
	return value
}
