package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
)

func (a *app) installCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "install DIR",
		Short: "Install a capability from a folder",
		Long: "Validate the capability in a folder, copy it to ~/.air/capabilities and compile it. Nothing is run and nothing is\n" +
			"enabled.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			bundle, err := capabilities.OpenDir(args[0])
			if err != nil {
				return err
			}
			absolute, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			installed, err := capabilities.OpenStore(at.home.Path("capabilities")).Place(cmd.Context(), bundle, capabilities.Source{Kind: "local_path", Path: absolute})
			if err != nil {
				return err
			}
			a.compileAhead(cmd.Context(), at, installed)
			return a.printInstalled(installed)
		},
	}
}
