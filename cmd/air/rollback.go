package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func (a *app) rollbackCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "rollback ID[@DIGEST]",
		Short: "Go back to an earlier version of a capability",
		Long: "Go back to the version that was enabled in this project before the present one, or to the one with the digest.\n" +
			"It has to be installed still. The difference is shown, and asked about.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeInstalled,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, l, err := a.projectLifecycle()
			if err != nil {
				return err
			}
			id, digest, err := idArgument(args[0])
			if err != nil {
				return err
			}
			status, err := l.Rollback(cmd.Context(), id, digest, a.consent(cmd.Context(), "Go back to this version of "+id+"?", yes))
			if err != nil {
				return err
			}
			a.afterConsent(cmd.Context(), l, status)
			return a.print(status, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n%s\n", id, status.Version, status.Digest) })
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "accept what is shown without asking")
	return c
}
