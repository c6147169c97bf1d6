package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

func (a *app) permissionGrantCommand() *cobra.Command {
	var g permission.Grant
	var forSession bool
	var expires string
	c := &cobra.Command{
		Use:   "grant EFFECT(PATTERN)",
		Short: "Allow something that would be asked, in this project",
		Long: "Store a grant. A grant turns an ask into an allow; it never opens what a rule denies or what lies above a\n" +
			"capability's ceiling. It belongs to this project, and to one capability where --for names it.",
		Example: `  air permission grant 'overwrite(docs/**)'
  air permission grant 'read(/srv/data/**)' --for csv-insight@sha256:… --expires 2027-01-31`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.needProject()
			if err != nil {
				return err
			}
			engine, err := a.permissionEngine(at)
			if err != nil {
				return err
			}
			g.Rule = "allow: " + strings.TrimPrefix(args[0], "allow: ")
			if expires != "" {
				if g.Expires, err = time.ParseInLocation(time.DateOnly, expires, time.Local); err != nil {
					return fault.New(fault.InvalidInput, "usage", "--expires: %w", err).WithHint("a date such as 2027-01-31")
				}
			}
			if expires != "" && g.Expires.Before(time.Now()) {
				return fault.New(fault.InvalidInput, "usage", "--expires %s is over", expires)
			}
			if forSession {
				s, err := a.session(cmd.Context(), at)
				if err != nil {
					return err
				}
				g.Session = s.ID
			}
			stored, err := engine.AddGrant(cmd.Context(), g)
			if err != nil {
				return err
			}
			return a.recordGrant(cmd, at, event.PermissionGranted, stored)
		},
	}
	c.Flags().StringVar(&g.For, "for", "", "the capability, as ID@DIGEST (default: people, their agents and built-in tools)")
	c.Flags().BoolVar(&forSession, "this-session", false, "only for the current session")
	c.Flags().StringVar(&expires, "expires", "", "the day on which it ends, as YYYY-MM-DD")
	return c
}

func (a *app) permissionRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Take a grant back",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			engine, err := a.permissionEngine(at)
			if err != nil {
				return err
			}
			g, err := engine.Revoke(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.recordGrant(cmd, at, event.PermissionRevoked, g)
		},
	}
}

func (a *app) recordGrant(cmd *cobra.Command, at place, eventType string, g permission.Grant) error {
	events, err := a.projectEvents(at)
	if err != nil {
		return err
	}
	if err := appendEvent(cmd.Context(), events, eventType, map[string]any{"grant": g}); err != nil {
		return err
	}
	return a.print(g, func(w io.Writer) { fmt.Fprintf(w, "%s  %s\n", g.ID, g.Rule) })
}
