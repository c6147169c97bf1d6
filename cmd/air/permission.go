package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

func (a *app) permissionCommand() *cobra.Command {
	return group("permission", "Show and change what is allowed", a.permissionLsCommand(), a.permissionExplainCommand(), a.permissionGrantCommand(), a.permissionRevokeCommand())
}

func (a *app) permissionEngine() (place, *permission.Engine, error) {
	at, err := a.place()
	if err != nil {
		return at, nil, err
	}
	paths, err := a.paths(at, "")
	if err != nil {
		return at, nil, err
	}
	engine, err := a.permissions(at, paths)
	return at, engine, err
}

func (a *app) permissionLsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the rules and grants that apply here",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, engine, err := a.permissionEngine()
			if err != nil {
				return err
			}
			rules, grants := engine.Rules(), engine.Grants()
			return a.print(map[string]any{"rules": rules, "grants": grants}, func(w io.Writer) {
				var rows [][]string
				for _, r := range rules {
					rows = append(rows, []string{r.Tier, fmt.Sprintf("%s:%d", r.File, r.Line), r.Rule, r.For, strings.TrimSpace(r.Inactive + " " + r.Warning)})
				}
				for _, g := range grants {
					rows = append(rows, []string{"grant", g.ID, g.Rule, g.For, lifetime(g)})
				}
				if len(rows) == 0 {
					fmt.Fprintln(w, "no rules and no grants: the defaults apply")
					return
				}
				table(w, []string{"TIER", "WHERE", "RULE", "FOR", "NOTE"}, rows)
			})
		},
	}
}

func lifetime(g permission.Grant) string {
	switch {
	case g.Session != "":
		return "session " + g.Session
	case !g.Expires.IsZero():
		return "until " + g.Expires.Format(time.DateOnly)
	}
	return ""
}

func (a *app) permissionExplainCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "explain TOOL [JSON | @FILE | -]",
		Short:             "Show what would be decided for a call, and why",
		Long:              "Look up, validate and plan a call, and show each layer's answer to each of its effects. Nothing runs.",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			input, err := a.input(args[1:])
			if err != nil {
				return err
			}
			r, err := a.enabled(cmd.Context())
			if err != nil {
				return err
			}
			explanations, err := r.Explain(cmd.Context(), runtime.Call{Tool: args[0], Input: input})
			if err != nil {
				return err
			}
			return a.print(explanations, func(w io.Writer) {
				for _, e := range explanations {
					writeExplanation(w, e)
				}
			})
		},
	}
}

func writeExplanation(w io.Writer, e permission.Explanation) {
	class := ""
	if e.Effect.Class != "" {
		class = "  (class " + string(e.Effect.Class) + ")"
	}
	fmt.Fprintf(w, "%s%s\n", printable(e.Effect.String()), class)
	for _, s := range e.Steps {
		who := ""
		if s.Caller != "" {
			who = " of " + s.Caller
		}
		fmt.Fprintf(w, "  %-30s %-11s %s\n", string(s.Layer)+who, s.Answer, printable(s.Rule))
	}
	fmt.Fprintf(w, "  => %s: %s\n", e.Final.Verdict, printable(e.Final.Reason))
	if e.Final.Hint != "" {
		fmt.Fprintf(w, "     %s\n", printable(e.Final.Hint))
	}
}

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
			at, engine, err := a.permissionEngine()
			if err != nil {
				return err
			}
			g.Rule = "allow: " + strings.TrimPrefix(args[0], "allow: ")
			if expires != "" {
				if g.Expires, err = time.ParseInLocation(time.DateOnly, expires, time.Local); err != nil {
					return fault.New(fault.InvalidInput, "usage", "--expires: %w", err).WithHint("a date such as 2027-01-31")
				}
			}
			if forSession {
				s, err := a.session(cmd.Context(), at)
				if err != nil {
					return err
				}
				g.Session = s.ID
			}
			stored, err := engine.AddGrant(g)
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
			at, engine, err := a.permissionEngine()
			if err != nil {
				return err
			}
			g, err := engine.Revoke(args[0])
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
