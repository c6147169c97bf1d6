package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/runtime/artifact"
)

func (a *app) artifactCommand() *cobra.Command {
	return group("artifact", "Show the artifacts of the session", a.artifactLsCommand(), a.artifactCatCommand(), a.artifactPathCommand())
}

func (a *app) artifacts(cmd *cobra.Command) (*artifact.Store, error) {
	at, err := a.place()
	if err != nil {
		return nil, err
	}
	s, err := a.session(cmd.Context(), at)
	if err != nil {
		return nil, err
	}
	return s.Artifacts, nil
}

func (a *app) artifact(cmd *cobra.Command, id string) (*artifact.Store, artifact.Record, error) {
	store, err := a.artifacts(cmd)
	if err != nil {
		return nil, artifact.Record{}, err
	}
	record, err := store.Get(cmd.Context(), id)
	return store, record, err
}

func (a *app) artifactLsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the artifacts of the session",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.artifacts(cmd)
			if err != nil {
				return err
			}
			records, err := store.List(cmd.Context())
			if err != nil {
				return err
			}
			var rows [][]string
			for _, r := range records {
				rows = append(rows, []string{r.ID, r.Type, fmt.Sprint(r.Size), r.MediaType, r.Owner.Capability, r.Name})
			}
			return a.print(records, func(w io.Writer) {
				table(w, []string{"ID", "TYPE", "BYTES", "MEDIA TYPE", "OWNER", "NAME"}, rows)
			})
		},
	}
}

func (a *app) artifactCatCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cat ID",
		Short: "Write an artifact's content to stdout",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, record, err := a.artifact(cmd, args[0])
			if err != nil {
				return err
			}
			content, err := store.Open(record)
			if err != nil {
				return err
			}
			defer content.Close()
			a.printed = true
			_, err = io.Copy(a.stdout, content)
			return err
		},
	}
}

func (a *app) artifactPathCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "path ID",
		Short: "Print the path of an artifact's file",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, record, err := a.artifact(cmd, args[0])
			if err != nil {
				return err
			}
			return a.print(record, func(w io.Writer) { fmt.Fprintln(w, record.Path) })
		},
	}
}
