//go:build !wasip1

package air

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Main runs one tool natively, for trying it out: NAME [INPUT [CONFIG]], both JSON, on
// the files of the working folder. A missing INPUT is read from stdin. The output goes
// to stdout, the {code, message, details} of an error and the log to stderr. In a
// module Main does nothing.
func Main() {
	if err := runArgs(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s\n", encodeError(err))
		os.Exit(1)
	}
}

func runArgs(args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) == 0 || len(args) > 3 {
		return Fail("usage", "expected: NAME [INPUT [CONFIG]]")
	}
	host, err := Dir(".", os.Stderr)
	if err != nil {
		return err
	}
	input, config, err := documents(args[1:], stdin)
	if err != nil {
		return err
	}
	output, err := Run(host, args[0], input, config)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s\n", output)
	return err
}

func documents(args []string, stdin io.Reader) (input, config json.RawMessage, err error) {
	if len(args) > 1 {
		config = json.RawMessage(args[1])
	}
	if len(args) > 0 {
		return json.RawMessage(args[0]), config, nil
	}
	input, err = io.ReadAll(stdin)
	return input, config, err
}

// Run runs one tool natively, as AIR would run it in a module: for tests. The tool is
// named with or without its capability. An error is an *Error, as a caller gets it; it
// wraps what the handler returned.
func Run(h Host, tool string, input, config json.RawMessage) (json.RawMessage, error) {
	call, err := encode(invocation{Tool: qualify(tool), Input: input, Config: config})
	if err != nil {
		return nil, Fail("bad_invocation", "reading input or configuration: %w", err)
	}
	out, err := dispatch(h, call)
	if err != nil {
		return nil, describe(err)
	}
	return out, nil
}

func qualify(tool string) string {
	if _, ok := handlers[tool]; ok {
		return "local." + tool
	}
	return tool
}
