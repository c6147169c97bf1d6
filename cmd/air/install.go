package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/gitsource"
)

func (a *app) installCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "install DIR | git:URL[@REV][#FOLDER]",
		Short: "Install a capability from a folder or a git repository",
		Long: "Validate the capability in a folder, copy it to ~/.air/capabilities and compile it. Nothing is run and nothing is\n" +
			"enabled.\n\n" +
			"With git: the folder is one of a repository that git fetches by https, ssh, or from this machine: URL is\n" +
			"https://…, ssh://…, USER@HOST:PATH, file:///… or a path. REV is a branch, a tag or a whole commit, and the default\n" +
			"branch where it is left out. Files are taken as they were committed: the module has to be among them, and nothing is\n" +
			"built. Hooks, filters, submodules and git's own configuration do not count, and nobody is asked for a password.\n" +
			"An @ or # that belongs to URL is written %40 or %23.",
		Example: "  air install ./hello\n  air install git:https://git.example/acme/tools.git@v1.2.0#hello",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			install := a.installFolder
			if strings.HasPrefix(args[0], gitsource.Prefix) {
				install = a.installGit
			}
			installed, err := install(cmd.Context(), at, args[0])
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
