package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/runtime/session"
)

func (a *app) taskCommand() *cobra.Command {
	return group("task", "Manage the tasks of a session", a.taskNewCommand(), a.taskLsCommand(), a.taskUseCommand())
}

func (a *app) currentSession(cmd *cobra.Command) (*session.Session, error) {
	at, err := a.place()
	if err != nil {
		return nil, err
	}
	return a.session(cmd.Context(), at)
}

func (a *app) taskNewCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "new [TITLE]",
		Short: "Begin a task and make it current",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.currentSession(cmd)
			if err != nil {
				return err
			}
			title := ""
			if len(args) > 0 {
				title = args[0]
			}
			t, err := s.NewTask(cmd.Context(), title)
			if err != nil {
				return err
			}
			return a.print(t, func(w io.Writer) { fmt.Fprintln(w, t.ID) })
		},
	}
}

func (a *app) taskLsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the tasks of the session",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.currentSession(cmd)
			if err != nil {
				return err
			}
			tasks, err := s.Tasks(cmd.Context())
			if err != nil {
				return err
			}
			type view struct {
				session.Task
				Current bool `json:"current"`
			}
			views := []view{}
			var rows [][]string
			for _, t := range tasks {
				views = append(views, view{t, t.ID == s.Task})
				rows = append(rows, []string{currentMark(t.ID == s.Task), t.ID, t.Started.Local().Format(time.DateTime), t.Title})
			}
			return a.print(views, func(w io.Writer) { table(w, []string{"", "TASK", "STARTED", "TITLE"}, rows) })
		},
	}
}

func (a *app) taskUseCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "use ID",
		Short: "Make a task current",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.currentSession(cmd)
			if err != nil {
				return err
			}
			t, err := s.UseTask(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.print(t, func(w io.Writer) { fmt.Fprintln(w, t.ID) })
		},
	}
}
