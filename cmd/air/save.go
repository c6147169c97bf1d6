package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/atomicfile"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/oci"
)

func (a *app) saveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "save ID[@DIGEST] FILE",
		Short: "Write an installed capability to a file",
		Long: "Write an installed capability with its signatures to one file: an OCI image layout in a tar archive that is compressed\n" +
			"with zstd. air load installs it where there is no network. With - as FILE it goes to stdout.",
		Example:           "  air save csv-insight csv-insight.tar.zst",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeInstalled,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			id, digest, err := idArgument(args[0])
			if err != nil {
				return err
			}
			saved, err := a.save(cmd.Context(), at, id, digest, args[1])
			if err != nil {
				return err
			}
			if toStdout(args[1]) {
				a.note("saved %s %s\n%s", id, saved.Version, saved.Digest)
				return nil
			}
			return a.print(saved, func(w io.Writer) { fmt.Fprintf(w, "saved %s %s\n%s\n", id, oneLine(saved.Version), saved.Digest) })
		},
	}
}

func (a *app) save(ctx context.Context, at place, id, digest, file string) (capabilities.Installed, error) {
	c, err := a.find(ctx, at, id, digest)
	if err != nil {
		return capabilities.Installed{}, err
	}
	i, err := store(at).Get(id, c.Digest)
	if err != nil {
		return i, err
	}
	write := func(w io.Writer) error { return oci.Save(ctx, w, downloads(at), c.Kept(i)) }
	if toStdout(file) {
		return i, a.saveToStdout(write)
	}
	if err := atomicfile.CheckTarget(file); err != nil {
		return i, fault.New(fault.InvalidInput, "output_file", "%w", err).WithHint("air save ID - writes to stdout, which may be a pipe")
	}
	_ = atomicfile.RemoveStaleOf(file, time.Hour)      // what stays is in nobody's way
	return i, atomicfile.WriteFrom(file, 0o644, write) // its error names the file
}

func toStdout(file string) bool { return file == "-" || file == "/dev/stdout" }

func (a *app) saveToStdout(write func(io.Writer) error) error {
	if isTerminal(a.stdout) {
		return fault.New(fault.InvalidInput, "output_file", "stdout is a terminal, and an archive is no text").
			WithHint("name a file, or send it on: air save ID - | ssh HOST air load /dev/stdin")
	}
	a.printed = true
	return write(a.stdout)
}
