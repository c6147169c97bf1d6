package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/oci"
)

func (a *app) loadCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "load FILE",
		Short: "Install a capability from a file of air save",
		Long: "Install the capabilities in a file that air save wrote, with their signatures. Every byte is verified as in a pull.\n" +
			"Nothing is run and nothing is enabled.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			installed, err := a.load(cmd.Context(), at, args[0])
			if err != nil {
				return err
			}
			return a.print(installed, func(w io.Writer) {
				for _, i := range installed {
					fmt.Fprintf(w, "%s %s\n%s\n", i.CapabilityID, oneLine(i.Version), i.Digest)
					a.noteInstalled(i.CapabilityID)
				}
			})
		},
	}
}

// load installs what an archive holds. Where it says it is from is a claim of whoever
// wrote it, and is not recorded as a reference.
func (a *app) load(ctx context.Context, at place, file string) ([]capabilities.Installed, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "input_file", "reading the archive: %w", err)
	}
	defer f.Close()
	loaded, err := oci.Load(ctx, f, downloads(at))
	if err != nil {
		return nil, err
	}
	var all []capabilities.Installed
	for _, one := range loaded {
		i, err := store(at).PlaceFrom(ctx, one.Pulled, capabilities.Source{Kind: "local_path", Path: path}, one.Signatures)
		if err != nil {
			return all, err
		}
		if _, known := keptSignatures(at, i.Digest); !known {
			if err := keepSignatures(at, i.Digest, one.Signatures); err != nil {
				return all, err
			}
		}
		a.compileAhead(ctx, at, i)
		all = append(all, i)
	}
	return all, nil
}
