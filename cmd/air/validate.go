package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/text"
)

func (a *app) validateCommand() *cobra.Command {
	var transport transportFlags
	c := &cobra.Command{
		Use:   "validate [DIR | REF | ID]",
		Short: "Check a capability: manifest, files, module",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			bundle, err := a.resolve(cmd.Context(), at, argOr(args, "."), &transport)
			if err != nil {
				return err
			}
			out := map[string]any{
				"ok": true, "capability_id": bundle.Manifest.CapabilityID, "version": bundle.Manifest.Version,
				"digest": bundle.Digest, "manifest_hash": bundle.ManifestHash, "files": bundle.Files(),
			}
			if useless := bundle.Manifest.Useless(); len(useless) > 0 {
				out["useless_permissions"] = useless
				a.note("note: it declares %s, which counts for nothing: a program (wasi.command) only computes on its input", strings.Join(useless, ", "))
			}
			return a.print(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s %s is valid\n%s\n", bundle.Manifest.CapabilityID, text.Printable(bundle.Manifest.Version), bundle.Digest)
			})
		},
	}
	transport.add(c)
	return c
}
