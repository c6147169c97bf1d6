package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/text"
)

func (a *app) inspectCommand() *cobra.Command {
	var transport transportFlags
	c := &cobra.Command{
		Use:   "inspect [DIR | REF | ID[@DIGEST]]",
		Short: "Show what a capability is and asks for",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			bundle, err := a.resolve(cmd.Context(), at, argOr(args, "."), &transport)
			if err != nil {
				return err
			}
			help, err := bundle.Help()
			if err != nil {
				return err
			}
			d := capabilities.Disclose(bundle, nil)
			out := struct {
				capabilities.Disclosure
				Files []string `json:"files"`
			}{d, bundle.Files()}
			return a.print(out, func(w io.Writer) {
				_ = d.Write(w) // into memory
				fmt.Fprintf(w, "\nFiles:\n")
				for _, f := range out.Files {
					fmt.Fprintf(w, "  - %s\n", f)
				}
				if len(help) > 0 {
					fmt.Fprintf(w, "\nIts help text:\n\n%s\n", text.Printable(string(help)))
				}
			})
		},
	}
	transport.add(c)
	return c
}
