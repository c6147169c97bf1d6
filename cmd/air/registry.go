package main

import (
	"fmt"
	"math"
	"net"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/oci"
)

func (a *app) registryCommand() *cobra.Command {
	return group("registry", "Run an OCI registry", a.registryServeCommand())
}

func (a *app) registryServeCommand() *cobra.Command {
	var o oci.ServeOptions
	var quota int64
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve an OCI registry until interrupted",
		Long: "Serve an OCI registry, from a folder or, without --dir, until it stops. Its address is the first line on stdout.\n" +
			"Without AIR_REGISTRY_TOKEN anyone may push on loopback and nobody off it; with it, a push has to bring it\n" +
			"as password or bearer token, and with --private a pull too. A push that would exceed --quota-mb is refused.\n" +
			"What was deleted, and what no manifest names a day after its push, makes room at the next start.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if quota < 0 || quota > math.MaxInt64>>20 {
				return fault.New(fault.InvalidInput, "quota", "--quota-mb is a number of megabytes")
			}
			o.Quota = quota << 20
			o.Token = a.getenv("AIR_REGISTRY_TOKEN")
			o.Ready = func(addr string) {
				fmt.Fprintln(a.stdout, addr)
				a.noteRegistry(addr, o)
			}
			a.printed = true
			return oci.Serve(cmd.Context(), o)
		},
	}
	c.Flags().StringVar(&o.Addr, "addr", "127.0.0.1:5000", "address to listen on; port 0 takes a free one")
	c.Flags().StringVar(&o.Dir, "dir", "", "keep everything in this folder (default: a temporary one, which goes when the registry stops)")
	c.Flags().BoolVar(&o.Private, "private", false, "ask for the token before reading too")
	c.Flags().Int64Var(&quota, "quota-mb", 0, "hold at most this many megabytes (default: 10240 with --dir, 1024 without)")
	return c
}

// noteRegistry says what a registry keeps, and for whom.
func (a *app) noteRegistry(addr string, o oci.ServeOptions) {
	if o.Dir == "" {
		a.note("what is pushed is gone when this registry stops; --dir keeps it")
	} else {
		a.note("what is pushed is kept in %s", o.Dir)
	}
	host, _, _ := net.SplitHostPort(addr) // of a listener
	if o.Token == "" && !net.ParseIP(host).IsLoopback() {
		a.note("it is read-only: it listens beyond loopback, and AIR_REGISTRY_TOKEN is not set")
	}
}
