package main

import (
	"strings"
	"testing"

	"github.com/aircoding/air/runtime/sandbox"
)

func TestSandboxReport(t *testing.T) {
	refused := sandbox.Row{Profile: "worker", Attempt: "a", Refused: true, How: "EPERM"}
	possible := sandbox.Row{Profile: "worker", Attempt: "b", How: "it opened"}
	untried := sandbox.Row{Profile: "command", Attempt: "c", How: "not tried: stat /nowhere: no such file or directory"}
	for want, rows := range map[string][]sandbox.Row{
		"2 attempts, all refused":                         {refused, refused},
		"1 attempt, all refused; 1 could not be tried":    {refused, untried},
		"2 attempts, 1 NOT REFUSED":                       {refused, possible},
		"2 attempts, 1 NOT REFUSED; 1 could not be tried": {refused, possible, untried},
		"0 attempts; 2 could not be tried":                {untried, {Profile: "worker", Attempt: "all", How: "stat /nowhere"}},
		"0 attempts; 1 could not be tried":                {untried},
	} {
		if got := summary(sandbox.Report{Rows: rows}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if whatEscaped(sandbox.Report{Rows: rows, Worker: sandbox.Tier{Held: true}, Command: sandbox.Tier{Held: true}}) == nil && want != "2 attempts, all refused" {
			t.Errorf("%s: it ends well", want)
		}
	}
	var out strings.Builder
	writeReport(&out, sandbox.Report{Rows: []sandbox.Row{untried}})
	if strings.Contains(out.String(), "POSSIBLE") || !strings.Contains(out.String(), "not tried  not tried: ") {
		t.Errorf("what was not tried is shown as\n%s", out.String())
	}
}
