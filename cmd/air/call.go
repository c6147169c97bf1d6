package main

import (
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
)

func (a *app) callCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "call TOOL [JSON | @FILE | -]",
		Short: "Call a tool of this project",
		Long: "Call a tool and print its output as JSON, also what a call that fails has of it; with -o json the whole result\n" +
			"envelope, also for errors.\n" +
			"The input is a JSON object: written out, read from a file with @FILE, or from standard input with -.\n" +
			"On a terminal, and without -o json and --quiet, a command's output also shows on standard error while it runs.",
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
			return a.printEnvelope(r.Call(cmd.Context(), runtime.Call{Tool: args[0], Input: input, Timeout: a.flags.timeout}))
		},
	}
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
	if err := a.printOutput(e); err != nil || e.Error == nil {
		return err
	}
	return e.Error
}

// printOutput prints the output of a call: of one that failed, what it has of it.
func (a *app) printOutput(e runtime.Envelope) error {
	switch {
	case e.Error != nil && len(e.Output) == 0:
		return nil
	case isTerminal(a.stdout):
		return a.encode(e.Output, "  ")
	}
	return a.write(append(e.Output, '\n'))
}
