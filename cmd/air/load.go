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
				for _, i := range installed {
					a.warn("%s %s is installed, %s", i.CapabilityID, i.Version, i.Digest)
				}
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
	f, err := openArchive(ctx, path)
	if err != nil {
		return nil, err
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
		if err := keepSignatures(at, "", i.Digest, one.Signatures); err != nil {
			return all, err
		}
		a.compileAhead(ctx, at, i)
		all = append(all, i)
	}
	return all, nil
}

// openArchive opens a file, or a pipe, whose other end may never come: what reads it is
// left behind when ctx ends.
func openArchive(ctx context.Context, path string) (io.ReadCloser, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fault.New(fault.InvalidInput, "input_file", "reading the archive: %w", err).
			WithHint("air load takes a file that air save wrote; air pull takes a reference, air install a folder")
	case info.IsDir():
		return nil, fault.New(fault.InvalidInput, "input_file", "reading the archive: %s is a folder", path).
			WithHint("air install takes the folder of a capability; an OCI image layout comes as tar: tar -C FOLDER -cf FILE .")
	}
	r, w := io.Pipe()
	go func() {
		f, err := os.Open(path)
		if err == nil {
			_, err = io.Copy(w, f)
			_ = f.Close() // it was only read
		}
		_ = w.CloseWithError(err)
	}()
	stop := context.AfterFunc(ctx, func() { _ = r.CloseWithError(context.Cause(ctx)) })
	return archiveStream{r, stop}, nil
}

type archiveStream struct {
	*io.PipeReader
	stop func() bool
}

func (s archiveStream) Close() error {
	s.stop()
	return s.PipeReader.Close()
}
