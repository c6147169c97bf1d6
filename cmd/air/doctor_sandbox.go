package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/sandbox"
)

// tryEscapes shows what holds on this machine, by trying to get out of it.
func (a *app) tryEscapes(ctx context.Context) error {
	report := sandbox.Check(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.print(examined(report), func(w io.Writer) { writeReport(w, report) }); err != nil {
		return err
	}
	return whatEscaped(report)
}

// examined is a report for scripts.
func examined(r sandbox.Report) any {
	type tier struct {
		Held   bool   `json:"held"`
		Reason string `json:"reason"`
	}
	type row struct {
		Profile string `json:"profile"`
		Attempt string `json:"attempt"`
		Tried   bool   `json:"tried"`
		Refused bool   `json:"refused"`
		How     string `json:"how"`
	}
	out := struct {
		Kernel   string `json:"kernel"`
		Landlock int    `json:"landlock_abi"`
		Worker   tier   `json:"worker"`
		Command  tier   `json:"command"`
		Attempts []row  `json:"attempts"`
	}{r.Kernel, r.Landlock, tier{r.Worker.Held, r.Worker.Reason}, tier{r.Command.Held, r.Command.Reason}, []row{}}
	for _, one := range r.Rows {
		out.Attempts = append(out.Attempts, row{one.Profile, one.Attempt, tried(one), one.Refused, one.How})
	}
	return out
}

func writeReport(w io.Writer, r sandbox.Report) {
	fmt.Fprintf(w, "worker   %s: %s\n", held(r.Worker), oneLine(r.Worker.Reason))
	fmt.Fprintf(w, "command  %s: %s\n\n", held(r.Command), oneLine(r.Command.Reason))
	var rows [][]string
	for _, one := range r.Rows {
		result := "refused"
		switch {
		case !tried(one):
			result = "not tried"
		case !one.Refused:
			result = "POSSIBLE"
		}
		rows = append(rows, []string{one.Profile, one.Attempt, result, one.How})
	}
	table(w, []string{"PROFILE", "ATTEMPT", "RESULT", "HOW"}, rows)
	fmt.Fprintf(w, "\n%s\n", summary(r))
}

// summary is the outcome of a check in one line.
func summary(r sandbox.Report) string {
	untried := 0
	for _, one := range r.Rows {
		if !tried(one) {
			untried++
		}
	}
	possible := len(r.Escaped()) - untried
	said := counted(len(r.Rows)-untried, "attempt")
	switch {
	case possible > 0:
		said += fmt.Sprintf(", %d NOT REFUSED", possible)
	case len(r.Rows) > untried:
		said += ", all refused"
	}
	if untried > 0 {
		said += fmt.Sprintf("; %d could not be tried", untried)
	}
	return said
}

// tried tells whether an attempt was made: what holds is not known otherwise. One row
// stands for all attempts of a profile where none could be made.
func tried(one sandbox.Row) bool {
	return one.Attempt != "all" && !strings.HasPrefix(one.How, "not tried: ")
}

func held(t sandbox.Tier) string {
	if t.Held {
		return "holds"
	}
	return "does not hold"
}

// whatEscaped is the error of a check that found something. The answer lists it already.
func whatEscaped(r sandbox.Report) error {
	switch n := len(r.Escaped()); {
	case n > 0:
		return &shownError{fault.New(fault.Unavailable, "sandbox", "%d attempts to escape were not refused, or not tried", n)}
	case !r.Worker.Held || !r.Command.Held:
		return &shownError{fault.New(fault.Unavailable, "sandbox", "a profile does not hold on this machine")}
	}
	return nil
}
