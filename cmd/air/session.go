package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/runtime/session"
)

func (a *app) sessionCommand() *cobra.Command {
	return group("session", "Manage sessions: one conversation each", a.sessionNewCommand(), a.sessionLsCommand(), a.sessionShowCommand(), a.sessionUseCommand())
}

func (a *app) sessionNewCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "new",
		Short: "Begin a session and make it current",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			s, err := session.New(cmd.Context(), at.project, at.home, session.Options{Redactor: redactor(at.home)})
			if err != nil {
				return err
			}
			a.later(s.Close)
			return a.print(map[string]any{"id": s.ID, "task": s.Task}, func(w io.Writer) { fmt.Fprintln(w, s.ID) })
		},
	}
}

func (a *app) sessionLsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the sessions of this project",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			all, err := session.List(at.project, at.home)
			if err != nil {
				return err
			}
			var rows [][]string
			for _, s := range all {
				rows = append(rows, []string{currentMark(s.Current), s.ID, s.Started.Local().Format(time.DateTime)})
			}
			return a.print(all, func(w io.Writer) { table(w, []string{"", "SESSION", "STARTED"}, rows) })
		},
	}
}

func currentMark(current bool) string {
	if current {
		return "*"
	}
	return ""
}

func (a *app) sessionUseCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "use ID",
		Short: "Make a session current",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			id, err := session.Use(cmd.Context(), at.project, at.home, args[0])
			if err != nil {
				return err
			}
			return a.print(map[string]any{"id": id}, func(w io.Writer) { fmt.Fprintln(w, id) })
		},
	}
}
