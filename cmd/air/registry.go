package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/oci"
)

func (a *app) registryCommand() *cobra.Command {
	return group("registry", "Run an OCI registry", a.registryServeCommand())
}

func (a *app) registryServeCommand() *cobra.Command {
	var o oci.ServeOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve an OCI registry until interrupted",
		Long: "Serve an OCI registry, in memory or from a folder. Its address is the first line on stdout.\n" +
			"Without AIR_REGISTRY_TOKEN anyone may push on loopback and nobody off it; with it, a push has to bring it\n" +
			"as password or bearer token.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Token = a.getenv("AIR_REGISTRY_TOKEN")
			o.Ready = func(addr string) { fmt.Fprintln(a.stdout, addr) }
			a.printed = true
			return oci.Serve(cmd.Context(), o)
		},
	}
	c.Flags().StringVar(&o.Addr, "addr", "127.0.0.1:5000", "address to listen on; port 0 takes a free one")
	c.Flags().StringVar(&o.Dir, "dir", "", "keep everything in this folder (default: in memory)")
	return c
}
