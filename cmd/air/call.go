package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
)

func (a *app) callCommand() *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "call TOOL [JSON | @FILE | -]",
		Short: "Call a tool of this project",
		Long: "Call a tool and print its output as JSON; with -o json the whole result envelope, also for errors.\n" +
			"The input is a JSON object: written out, read from a file with @FILE, or from standard input with -.",
		Example: `  air call fs.list '{"path":"."}'
  air call fs.read @input.json -o json`,
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
			return a.printEnvelope(r.Call(cmd.Context(), runtime.Call{Tool: args[0], Input: input, Timeout: timeout}))
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", 0, "shorten the tool's time limit, such as 1s")
	return c
}

// maxInput is more than any tool takes; the exact limit is the tool's own.
const maxInput = 17 << 20

// input reads the JSON that follows a tool's name on the command line.
func (a *app) input(args []string) (json.RawMessage, error) {
	if len(args) == 0 {
		return json.RawMessage(`{}`), nil
	}
	text := args[0]
	switch {
	case text == "-":
		return a.readInput("standard input", a.stdin)
	case strings.HasPrefix(text, "@"):
		f, err := os.Open(text[1:])
		if err != nil {
			return nil, fault.New(fault.InvalidInput, "input_file", "%w", err)
		}
		defer f.Close()
		return a.readInput(text[1:], f)
	}
	return json.RawMessage(text), nil
}

func (a *app) readInput(name string, r io.Reader) (json.RawMessage, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "input_file", "reading %s: %w", name, err)
	}
	if len(b) > maxInput {
		return nil, fault.New(fault.InvalidInput, "input_size", "%s has more than %d bytes", name, maxInput)
	}
	return b, nil
}

// printEnvelope prints a call's result by the contract: the output, or with -o json
// the envelope; a failure also sets the exit code.
func (a *app) printEnvelope(e runtime.Envelope) error {
	if a.flags.output == "json" {
		if err := a.printJSON(e); err != nil {
			return err
		}
		if e.Error == nil {
			return nil
		}
		return &shownError{e.Error}
	}
	if e.Error != nil {
		return e.Error
	}
	a.printed = true
	var pretty json.RawMessage = e.Output
	if isTerminal(a.stdout) {
		if b, err := json.MarshalIndent(e.Output, "", "  "); err == nil {
			pretty = b
		}
	}
	_, err := fmt.Fprintf(a.stdout, "%s\n", pretty)
	return err
}

// note writes a line for people to stderr.
func (a *app) note(format string, args ...any) {
	if !a.flags.quiet {
		fmt.Fprintln(a.stderr, printable(fmt.Sprintf(format, args...)))
	}
}

func (a *app) completeTools(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := a.toolNames(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) toolNames(ctx context.Context) ([]string, error) {
	r, err := a.enabled(ctx)
	if err != nil {
		return nil, err
	}
	tools, err := r.Tools(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names, nil
}
