package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
)

func (a *app) enableCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "enable ID[@DIGEST]",
		Short: "Allow a capability in this project",
		Long: "Show what a capability is and what it asks for, and ask. Enabling allows exactly what was shown, to exactly\n" +
			"these bytes, for you in this project. Its module is then started once, without input, to save its calls that time.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeInstalled,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := a.projectLifecycle()
			if err != nil {
				return err
			}
			id, digest, err := idArgument(args[0])
			if err != nil {
				return err
			}
			status, err := l.Enable(cmd.Context(), id, digest, func(d capabilities.Disclosure) (bool, error) {
				if err := d.Write(a.stderr); err != nil {
					return false, err
				}
				err := a.confirm(cmd.Context(), "Enable "+id+" in this project?", yes)
				return err == nil, err
			})
			if err != nil {
				return err
			}
			a.warmUp(cmd.Context(), l, status)
			return a.print(status, func(w io.Writer) { fmt.Fprintf(w, "enabled %s\n%s\n", id, status.Digest) })
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "accept what is shown without asking")
	return c
}
