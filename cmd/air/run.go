package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/runtime"
)

func (a *app) runCommand() *cobra.Command {
	var transport transportFlags
	c := &cobra.Command{
		Use:   "run (DIR | FILE.wasm | REF) TOOL [JSON | @FILE | -]",
		Short: "Run one tool of a capability without installing it",
		Long: "Run one call of a capability in a folder, in a bare module, or at a reference. This is consent to run it, not to\n" +
			"touch anything: each effect inside what its manifest declares is asked on the terminal. The tools of a bare\n" +
			"module are called local.NAME and may touch nothing. What is installed or pulled has to be what policies and the project's\n" +
			"lock let through, as in a call; a folder or a file is run as it is.",
		Example: `  air run hello hello.greet '{"name":"Ada"}'
  air run module.wasm greet`,
		Args: cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			input, err := a.input(args[2:])
			if err != nil {
				return err
			}
			at, err := a.place()
			if err != nil {
				return err
			}
			bundle, err := a.resolve(cmd.Context(), at, args[0], &transport)
			if err != nil {
				return err
			}
			if err := a.permitted(at, bundle); err != nil {
				return err
			}
			one := capabilities.Single{Bundle: bundle.Bundle, NewImplementation: newGuest(a.pool(at))}
			r, err := a.registry(cmd.Context(), at, one, nil)
			if err != nil {
				return err
			}
			a.compiling(at, bundle.Manifest.CapabilityID, bundle.ModuleSHA256)
			tool := toolName(bundle.Manifest.CapabilityID, args[1])
			return a.printEnvelope(r.Call(cmd.Context(), runtime.Call{Tool: tool, Input: input, Timeout: a.flags.timeout}))
		},
	}
	transport.add(c)
	return c
}

// permitted holds what others made against the person's policy, and the project's with its
// lock. A folder or a file is what the person works on.
func (a *app) permitted(at place, c capabilities.Found) error {
	if c.Place == "" && c.Reference == "" {
		return nil
	}
	l, err := a.lifecycle(at)
	if err != nil {
		return err
	}
	return l.Permits(c)
}

// toolName completes the short name of a tool.
func toolName(id, name string) string {
	if strings.HasPrefix(name, id+".") {
		return name
	}
	return id + "." + name
}
