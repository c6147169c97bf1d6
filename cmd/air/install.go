package main

import (
	"context"
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
			installed, err := a.installFolder(cmd.Context(), at, args[0])
			if err != nil {
				return err
			}
			return a.printInstalled(installed)
		},
	}
}

// installFolder copies the capability in a folder into the install store.
func (a *app) installFolder(ctx context.Context, at place, dir string) (capabilities.Installed, error) {
	bundle, err := capabilities.OpenDir(dir)
	if err != nil {
		return capabilities.Installed{}, err
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return capabilities.Installed{}, err
	}
	installed, err := store(at).Place(ctx, bundle, capabilities.Source{Kind: "local_path", Path: absolute})
	if err == nil {
		a.compileAhead(ctx, at, installed)
	}
	return installed, err
}
