package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func (a *app) rmCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "rm ID[@DIGEST]",
		Short:             "Remove an installed capability",
		Long:              "Remove all installed versions of a capability, or the one with the digest.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeInstalled,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			l, err := a.lifecycle(at)
			if err != nil {
				return err
			}
			id, digest, err := idArgument(args[0])
			if err != nil {
				return err
			}
			removed, err := l.Remove(cmd.Context(), id, digest)
			if err != nil {
				return err
			}
			return a.print(removed, func(w io.Writer) {
				for _, i := range removed {
					fmt.Fprintf(w, "removed %s %s\n", i.CapabilityID, i.Digest)
				}
			})
		},
	}
}
