package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/runtime/permission"
)

func (a *app) permissionCommand() *cobra.Command {
	return group("permission", "Show and change what is allowed", a.permissionLsCommand(), a.permissionExplainCommand(), a.permissionGrantCommand(), a.permissionRevokeCommand())
}

func (a *app) permissionEngine(at place) (*permission.Engine, error) {
	paths, err := a.paths(at, "")
	if err != nil {
		return nil, err
	}
	return a.permissions(at, paths)
}

func (a *app) permissionLsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the rules and grants that apply here",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			engine, err := a.permissionEngine(at)
			if err != nil {
				return err
			}
			rules := append([]permission.RuleInfo{}, engine.Rules()...)
			grants := append([]permission.Grant{}, engine.Grants()...)
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
