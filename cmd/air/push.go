package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/oci"
)

func (a *app) pushCommand() *cobra.Command {
	var transport transportFlags
	var options oci.PushOptions
	c := &cobra.Command{
		Use:   "push DIR REF",
		Short: "Push a capability to a registry",
		Long:  "Push the capability in a folder to a registry as an OCI artifact. The same folder gives the same digest everywhere.",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			bundle, err := capabilities.OpenDir(args[0])
			if err != nil {
				return err
			}
			pushed, err := a.ociClient(at, args[1], &transport).Push(cmd.Context(), args[1], bundle.Artifact(), options)
			if err != nil {
				return err
			}
			return a.print(pushed, func(w io.Writer) {
				if pushed.Existed {
					fmt.Fprintf(a.stderr, "%s is there already\n", pushed.Reference)
				}
				fmt.Fprintf(w, "%s\n", pushed.Digest)
			})
		},
	}
	transport.add(c)
	c.Flags().StringVar(&options.Compress, "compress", "", "send the module compressed: zstd; the digest is then another one")
	complete(c, "compress", "zstd")
	c.Flags().BoolVar(&options.Force, "force", false, "move a tag that points to something else")
	return c
}
