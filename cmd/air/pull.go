package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/text"
)

func (a *app) pullCommand() *cobra.Command {
	var transport transportFlags
	c := &cobra.Command{
		Use:   "pull REF",
		Short: "Pull a capability from a registry into the install store",
		Long: "Pull a capability by tag or digest and place it in ~/.air/capabilities. Every byte is verified against its\n" +
			"digest, the manifest is validated, the module's imports are proven, and it is compiled. Nothing is run and nothing\n" +
			"is enabled.",
		Example: "  air pull 127.0.0.1:5000/acme/csv-insight:0.1.0 --plain-http",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			pulled, err := a.ociClient(at, args[0], &transport).Pull(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			installed, err := capabilities.OpenStore(at.home.Path("capabilities")).PlacePulled(cmd.Context(), pulled)
			if err != nil {
				return err
			}
			a.compileAhead(cmd.Context(), at, installed)
			return a.printInstalled(installed)
		},
	}
	transport.add(c)
	return c
}

func (a *app) printInstalled(i capabilities.Installed) error {
	return a.print(i, func(w io.Writer) {
		fmt.Fprintf(w, "%s %s\n%s\n", i.CapabilityID, text.Printable(i.Version), i.Digest)
		a.note("air inspect %[1]s shows what it asks for, air enable %[1]s allows it in a project", i.CapabilityID)
	})
}
