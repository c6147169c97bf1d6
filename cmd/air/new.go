package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/scaffold"
	"github.com/aircoding/air/resources"
)

func (a *app) newCommand() *cobra.Command {
	var language, dir string
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Begin a capability",
		Long:  "Write the folder of a new capability, with the guest SDK's source, so that it builds by itself.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			templates, err := resources.Templates(language)
			if err != nil {
				return fault.New(fault.InvalidInput, "language", "--lang: %w", err)
			}
			if dir == "" {
				dir = args[0]
			}
			files, err := scaffold.New(scaffold.Options{
				Dir: dir, Name: args[0], Templates: templates,
				Check: func(manifest []byte) error { _, err := capabilities.ParseManifest(manifest); return err },
			})
			if err != nil {
				return err
			}
			return a.print(map[string]any{"dir": dir, "files": files}, func(w io.Writer) {
				for _, f := range files {
					fmt.Fprintf(w, "created %s/%s\n", dir, f)
				}
				a.note("next: air build %s", dir)
			})
		},
	}
	c.Flags().StringVar(&language, "lang", "go", "language of the source: go")
	complete(c, "lang", "go")
	c.Flags().StringVar(&dir, "dir", "", "folder to create (default: NAME)")
	return c
}
