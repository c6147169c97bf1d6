package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
)

func (a *app) lsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List capabilities and their state in this project",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			l, err := a.lifecycle(at)
			if err != nil {
				return err
			}
			all, err := l.Discover(cmd.Context())
			if err != nil {
				return err
			}
			return a.print(all, func(w io.Writer) { _ = capabilities.WriteStatuses(w, all) }) // into memory
		},
	}
}
