package main

import (
	"github.com/spf13/cobra"

	"github.com/aircoding/air/resources"
)

func (a *app) permissionSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of permissions.yaml, for editors",
		Example: `  air permission schema > permissions.schema.json
  # yaml-language-server: $schema=permissions.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := resources.Schema("permissions")
			if err != nil {
				return err
			}
			return a.write(text)
		},
	}
}
