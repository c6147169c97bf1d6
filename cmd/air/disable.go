package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func (a *app) disableCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "disable ID",
		Short:             "End the use of a capability in this project",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeInstalled,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, l, err := a.projectLifecycle()
			if err != nil {
				return err
			}
			if err := l.Disable(cmd.Context(), args[0], ""); err != nil {
				return err
			}
			return a.print(map[string]any{"capability_id": args[0], "state": "disabled"}, func(w io.Writer) { fmt.Fprintf(w, "disabled %s\n", args[0]) })
		},
	}
}
