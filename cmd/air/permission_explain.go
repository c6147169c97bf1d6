package main

import (
	"fmt"
	"io"

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
			return a.print(explanations, func(w io.Writer) {
				for _, e := range explanations {
					writeExplanation(w, e)
				}
			})
		},
	}
}

// writeCommand shows what was understood of a command.
func writeCommand(w io.Writer, f permission.Effect) {
	about := func(label, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-8s %s\n", label, text.Escape(value))
		}
	}
	about("risk", string(f.Risk))
	about("why", f.Why)
	about("that is", f.Also)
	about("script", f.Script)
	about("sha256", f.ScriptSHA256)
}

func writeExplanation(w io.Writer, e permission.Explanation) {
	class := ""
	if e.Effect.Class != "" {
		class = "  (class " + string(e.Effect.Class) + ")"
	}
	fmt.Fprintf(w, "%s%s\n", text.Printable(e.Effect.String()), class)
	writeCommand(w, e.Effect)
	for _, s := range e.Steps {
		who := ""
		if s.Caller != "" {
			who = " of " + s.Caller
		}
		fmt.Fprintf(w, "  %-30s %-11s %s\n", string(s.Layer)+who, s.Answer, text.Printable(s.Rule))
	}
	fmt.Fprintf(w, "  => %s: %s\n", e.Final.Verdict, text.Printable(e.Final.Reason))
	if e.Final.Hint != "" {
		fmt.Fprintf(w, "     %s\n", text.Printable(e.Final.Hint))
	}
}
