package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/hostabi"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/oci"
)

func (a *app) pushCommand() *cobra.Command {
	var transport transportFlags
	var options oci.PushOptions
	var view bool
	c := &cobra.Command{
		Use:   "push DIR REF",
		Short: "Push a capability to a registry",
		Long: "Push the capability in a folder to a registry as an OCI artifact. The same folder gives the same digest everywhere.\n\n" +
			"With --wasm-view its module is pushed as well, under the tag and -wasm, in the CNCF layout for WebAssembly: other\n" +
			"runtimes take it from there. That is for modules with the ABI wasi.command, which need nothing of AIR.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			bundle, err := capabilities.OpenDir(args[0])
			if err != nil {
				return err
			}
			client := a.ociClient(at, args[1], &transport)
			if view {
				if err := canBeViewed(bundle, args[1]); err != nil {
					return err
				}
			}
			pushed, err := a.push(cmd.Context(), client, args[1], bundle, options, view)
			if err != nil {
				return err
			}
			return a.print(pushed, func(w io.Writer) {
				fmt.Fprintf(w, "%s\n", pushed.Digest)
				if pushed.WasmView != nil {
					a.note("%s is the module for other runtimes", pushed.WasmView.Reference)
				}
			})
		},
	}
	transport.add(c)
	c.Flags().StringVar(&options.Compress, "compress", "", "send the module compressed: zstd; the digest is then another one")
	complete(c, "compress", "zstd")
	c.Flags().BoolVar(&options.Force, "force", false, "move a tag that points to something else")
	c.Flags().BoolVar(&view, "wasm-view", false, "push the module for other runtimes as well, under TAG-wasm")
	return c
}

// pushed says where the bundle is, and where its module is beside it.
type pushed struct {
	oci.Pushed
	WasmView *oci.Pushed `json:"wasm_view,omitempty"`
}

func (a *app) push(ctx context.Context, client *oci.Client, ref string, bundle *capabilities.Bundle, options oci.PushOptions, view bool) (out pushed, err error) {
	if out.Pushed, err = client.Push(ctx, ref, bundle.Artifact(), options); err != nil {
		return out, err
	}
	a.existed(out.Pushed)
	if !view {
		return out, nil
	}
	module, err := client.PushWasmView(ctx, ref, bundle.Artifact(), options)
	if err != nil {
		return out, err
	}
	a.existed(module)
	out.WasmView = &module
	return out, nil
}

func (a *app) existed(p oci.Pushed) {
	if p.Existed {
		fmt.Fprintf(a.stderr, "%s is there already\n", p.Reference)
	}
}

// canBeViewed refuses before anything is pushed.
func canBeViewed(bundle *capabilities.Bundle, ref string) error {
	if abi := bundle.Manifest.Entrypoint.ABI; abi != hostabi.WASICommand {
		return fault.New(fault.InvalidInput, "not_portable", "%s has the ABI %s, which only AIR runs", bundle.Manifest.CapabilityID, abi).
			WithHint("--wasm-view is for modules with the ABI %s; push without it", hostabi.WASICommand)
	}
	_, err := oci.WasmView(ref)
	return err
}
