package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/runtime/permission"
)

func (a *app) permissionCommand() *cobra.Command {
	return group("permission", "Show and change what is allowed",
		a.permissionLsCommand(), a.permissionExplainCommand(), a.permissionPendingCommand(),
		a.permissionGrantCommand(), a.permissionRevokeCommand(), a.permissionLearnCommand(), a.permissionTestCommand(), a.permissionSchemaCommand())
}

func (a *app) permissionEngine(at place, change func(*permission.Options)) (*permission.Engine, error) {
	paths, err := a.paths(at, "")
	if err != nil {
		return nil, err
	}
	return a.permissions(at, paths, change)
}

// grantView is a grant as `air permission ls` shows it.
type grantView struct {
	permission.GrantInfo
	ShortID string `json:"short_id"`
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
			engine, err := a.permissionEngine(at, nil)
			if err != nil {
				return err
			}
			rules := append([]permission.RuleInfo{}, engine.Rules()...)
			grants := grantViews(engine)
			return a.print(map[string]any{"rules": rules, "grants": grants}, func(w io.Writer) {
				var rows [][]string
				for _, r := range rules {
					rows = append(rows, []string{r.Tier, at.here(fmt.Sprintf("%s:%d", r.File, r.Line)), r.Rule, r.For, at.here(notes(until(r.Expires), r.Inactive, r.Warning))})
				}
				for _, g := range grants {
					rows = append(rows, []string{"grant", g.ShortID, g.Rule, g.For, notes(lifetime(g.Grant), g.Warning)})
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

func grantViews(engine *permission.Engine) []grantView {
	views := []grantView{}
	grants := engine.GrantInfos()
	short := shortIDs(len(grants), func(i int) string { return grants[i].ID })
	for _, g := range grants {
		views = append(views, grantView{g, short[g.ID]})
	}
	return views
}

// shortIDs are the beginnings of n ids that no other one of them has.
func shortIDs(n int, id func(i int) string) map[string]string {
	const least = 8
	ids := make([]string, n)
	for i := range ids {
		ids[i] = id(i)
	}
	slices.Sort(ids)
	short := map[string]string{}
	for i, id := range ids {
		enough := least
		for _, other := range append(slices.Clone(ids[max(0, i-1):i]), ids[i+1:min(n, i+2)]...) {
			enough = max(enough, commonPrefix(id, other)+1)
		}
		short[id] = id[:min(enough, len(id))]
	}
	return short
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func notes(all ...string) string {
	var said []string
	for _, note := range all {
		if note != "" {
			said = append(said, note)
		}
	}
	return strings.Join(said, "; ")
}

func lifetime(g permission.Grant) string {
	if g.Session == "" {
		return until(g.Expires)
	}
	return notes("session "+g.Session, until(g.Expires))
}

func until(moment time.Time) string {
	if moment.IsZero() {
		return ""
	}
	return "until " + moment.Local().Format("2006-01-02 15:04")
}
