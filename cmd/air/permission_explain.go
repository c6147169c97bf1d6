package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/text"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

func (a *app) permissionExplainCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "explain TOOL [JSON | @FILE | -]",
		Short:             "Show what would be decided for a call, and why",
		Long:              "Look up, validate and plan a call, and show each layer's answer to each of its effects. Nothing runs.",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			input, err := a.input(args[1:])
			if err != nil {
				return err
			}
			r, err := a.enabled(cmd.Context())
			if err != nil {
				return err
			}
			explanations, err := r.Explain(cmd.Context(), runtime.Call{Tool: args[0], Input: input})
			if err != nil {
				return err
			}
			x := explanation{Tool: args[0], Verdict: verdictOf(explanations), Effects: explanations}
			return a.print(x, x.write)
		},
	}
}

// explanation is what would be decided for a call.
type explanation struct {
	Tool    string                   `json:"tool"`
	Verdict permission.Verdict       `json:"verdict"` // of the call: that of its strictest effect
	Effects []permission.Explanation `json:"effects"`
}

func verdictOf(effects []permission.Explanation) permission.Verdict {
	verdict := permission.Allow
	for _, e := range effects {
		verdict = min(verdict, e.Final.Verdict)
	}
	return verdict
}

var verdictMeans = map[permission.Verdict]string{
	permission.Deny:  "it would be refused",
	permission.Ask:   "a person would be asked; where there is none, it would be refused",
	permission.Allow: "it would be carried out",
}

// write shows the verdict, then what is refused, what is asked and what is allowed.
func (x explanation) write(w io.Writer) {
	fmt.Fprintf(w, "%s  %s: %s\n", x.Verdict, x.Tool, verdictMeans[x.Verdict])
	for _, verdict := range []permission.Verdict{permission.Deny, permission.Ask, permission.Allow} {
		for _, e := range x.Effects {
			if e.Final.Verdict == verdict {
				writeEffect(w, e)
			}
		}
	}
}

// writeCommand shows what was understood of a command.
func writeCommand(w io.Writer, f permission.Effect) {
	about := func(label, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-18s %s\n", label, text.Escape(value))
		}
	}
	about("risk", string(f.Risk))
	about("why", f.Why)
	about("that is", f.Also)
	about("script", f.Script)
	about("sha256", f.ScriptSHA256)
}

func writeEffect(w io.Writer, e permission.Explanation) {
	class := ""
	if e.Effect.Class != "" {
		class = "  (class " + string(e.Effect.Class) + ")"
	}
	fmt.Fprintf(w, "\n%s%s\n", text.Printable(e.Effect.String()), class)
	writeCommand(w, e.Effect)
	var silent []string
	for _, s := range e.Steps {
		layer := string(s.Layer)
		if s.Caller != "" {
			layer += " of " + s.Caller
		}
		if s.Rule == "" {
			silent = append(silent, layer)
			continue
		}
		fmt.Fprintf(w, "  %-18s %-6s %s\n", layer, s.Answer, text.Printable(s.Rule))
	}
	if len(silent) > 0 {
		fmt.Fprintf(w, "  %-18s %s\n", "nothing to say", text.Printable(strings.Join(silent, ", ")))
	}
	fmt.Fprintf(w, "  => %s: %s\n", e.Final.Verdict, text.Printable(e.Final.Reason))
	if e.Final.Hint != "" {
		fmt.Fprintf(w, "     %s\n", text.Printable(e.Final.Hint))
	}
}
