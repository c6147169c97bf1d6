package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/home"
)

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a folder a project",
		Long:  "Create .air/shared in the folder and accept what was written there. A folder that is a project already stays as it is.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := home.Locate(a.getenv)
			if err != nil {
				return err
			}
			dir, err := targetDir(a.flags.project, args)
			if err != nil {
				return err
			}
			project, created, err := h.Init(cmd.Context(), dir)
			if err != nil {
				return err
			}
			if err := acceptWritten(project, created); err != nil {
				return err
			}
			return a.print(map[string]any{"project_id": project.ID, "root": project.Root, "created": append([]string{}, created...)}, func(w io.Writer) {
				if len(created) == 0 {
					fmt.Fprintf(w, "%s is a project already\n", project.Root)
					return
				}
				fmt.Fprintf(w, "project %s\n", project.Root)
				for _, f := range created {
					fmt.Fprintf(w, "  created %s\n", f)
				}
			})
		},
	}
}

func targetDir(flag string, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	if flag != "" {
		return flag, nil
	}
	return os.Getwd()
}
