package main

import (
	"context"
	"encoding/json"
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

func (a *app) permissionGrantCommand() *cobra.Command {
	var g permission.Grant
	var forSession bool
	var expires, script string
	c := &cobra.Command{
		Use:   "grant EFFECT(PATTERN)",
		Short: "Allow something that would be asked, in this project",
		Long: "Store a grant. A grant turns an ask into an allow; it never opens what a rule denies or what lies above a\n" +
			"capability's ceiling. It belongs to this project, and to one capability where --for names it. A grant of a\n" +
			"command that executes a script of the project is bound to what the script holds now: a change asks again.",
		Example: `  air permission grant 'overwrite(docs/**)'
  air permission grant 'run(go test **)'
  air permission grant 'net(https://proxy.golang.org:443)' --this-session
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
			if g.Expires, err = parseDay(expires); err != nil {
				return err
			}
			if forSession {
				s, err := a.session(cmd.Context(), at)
				if err != nil {
					return err
				}
				g.Session = s.ID
			}
			if err := a.bindScript(cmd.Context(), at, &g, script); err != nil {
				return err
			}
			stored, err := engine.AddGrant(cmd.Context(), g)
			if err != nil {
				return err
			}
			if err := a.warnUseless(at, engine, stored); err != nil {
				return err
			}
			return a.recordGrant(cmd, at, event.PermissionGranted, stored)
		},
	}
	c.Flags().StringVar(&g.For, "for", "", "the capability, as ID@DIGEST (default: people, their agents and built-in tools)")
	c.Flags().BoolVar(&forSession, "this-session", false, "only for the current session")
	c.Flags().StringVar(&expires, "expires", "", "the day on which it ends, as YYYY-MM-DD")
	c.Flags().StringVar(&script, "script", "", "the script that the command executes, where its pattern does not say it")
	return c
}

// bindScript binds the grant of a command to what the script holds that it executes: the
// named one, or the one that the analysis finds in a command without wildcards.
func (a *app) bindScript(ctx context.Context, at place, g *permission.Grant, script string) error {
	if script != "" {
		paths, err := a.paths(at, "")
		if err == nil {
			g.ScriptSHA256, err = scriptDigest(paths, script)
		}
		return err
	}
	form := effectForm.FindStringSubmatch(g.Rule)
	if form == nil || form[1] != string(permission.Run) {
		return nil
	}
	words, err := permission.SplitArgv(form[2])
	if err != nil || permission.JoinArgv(words) != form[2] { // no command, but a pattern of commands
		return nil
	}
	input, err := json.Marshal(map[string]string{"command": form[2], "cwd": "."})
	if err != nil {
		return err
	}
	r, err := a.enabled(ctx)
	if err != nil {
		return err
	}
	explanations, err := r.Explain(ctx, runtime.Call{Tool: "shell.run", Input: input})
	if err != nil {
		return ctx.Err() // what cannot be analysed executes no script that is known
	}
	for _, e := range explanations {
		if e.Effect.Kind == permission.Run && e.Effect.Target == form[2] && e.Effect.ScriptSHA256 != "" {
			g.ScriptSHA256 = e.Effect.ScriptSHA256
			a.note("bound to what %s holds now (sha256 %.12s)", e.Effect.Script, g.ScriptSHA256)
		}
	}
	return nil
}

// parseDay reads --expires, the beginning of a day to come.
func parseDay(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	day, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return day, fault.New(fault.InvalidInput, "usage", "--expires: %w", err).WithHint("a date such as 2027-01-31")
	}
	if day.Before(time.Now()) {
		return day, fault.New(fault.InvalidInput, "usage", "--expires %s is over", text)
	}
	return day, nil
}

func (a *app) warnUseless(at place, engine *permission.Engine, g permission.Grant) error {
	paths, err := a.paths(at, "")
	if err != nil {
		return err
	}
	if why := useless(engine, paths, g); why != "" {
		a.warn("warning: %s", why)
	}
	return nil
}

func (a *app) permissionRevokeCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:               "revoke (ID... | --all)",
		Short:             "Take grants back",
		Long:              "Take grants of this project back, each named by its id or a beginning of it that no other one has.",
		ValidArgsFunction: a.completeGrants,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return fault.New(fault.InvalidInput, "usage", "ids of grants, or --all, are wanted").WithHint("air permission ls shows the grants of this project")
			}
			at, err := a.place()
			if err != nil {
				return err
			}
			engine, err := a.permissionEngine(at)
			if err != nil {
				return err
			}
			chosen := engine.Grants()
			if !all {
				if chosen, err = chooseGrants(chosen, args); err != nil {
					return err
				}
			}
			return a.revoke(cmd, at, engine, chosen)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all grants of this project, those of every session too")
	return c
}

// chooseGrants finds each grant before any is taken back.
func chooseGrants(have []permission.Grant, wanted []string) ([]permission.Grant, error) {
	var chosen []permission.Grant
	taken := map[string]bool{}
	for _, id := range wanted {
		var found []permission.Grant
		for _, g := range have {
			if id != "" && strings.HasPrefix(g.ID, id) {
				found = append(found, g)
			}
		}
		switch {
		case len(found) == 0:
			return nil, fault.New(fault.NotFound, "unknown_grant", "no grant %.40q", id).WithHint("air permission ls shows the grants of this project")
		case len(found) > 1:
			return nil, fault.New(fault.InvalidInput, "ambiguous", "more than one grant begins with %.40q", id).WithHint("give more of the id")
		case !taken[found[0].ID]:
			taken[found[0].ID] = true
			chosen = append(chosen, found[0])
		}
	}
	return chosen, nil
}

func (a *app) revoke(cmd *cobra.Command, at place, engine *permission.Engine, chosen []permission.Grant) error {
	events, err := a.projectEvents(at)
	if err != nil {
		return err
	}
	revoked := []permission.Grant{}
	for _, g := range chosen {
		g, err := engine.Revoke(cmd.Context(), g.ID)
		if err != nil {
			return err
		}
		if err := appendEvent(cmd.Context(), events, event.PermissionRevoked, map[string]any{"grant": g}); err != nil {
			return err
		}
		revoked = append(revoked, g)
	}
	return a.print(map[string]any{"revoked": revoked}, func(w io.Writer) {
		for _, g := range revoked {
			fmt.Fprintf(w, "%s  %s\n", g.ID, oneLine(g.Rule))
		}
		if len(revoked) == 0 {
			fmt.Fprintln(w, "there are no grants")
		}
	})
}

func (a *app) recordGrant(cmd *cobra.Command, at place, eventType string, g permission.Grant) error {
	events, err := a.projectEvents(at)
	if err != nil {
		return err
	}
	if err := appendEvent(cmd.Context(), events, eventType, map[string]any{"grant": g}); err != nil {
		return err
	}
	return a.print(g, func(w io.Writer) { fmt.Fprintf(w, "%s  %s\n", g.ID, oneLine(g.Rule)) })
}

func (a *app) completeGrants(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	at, err := a.place()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	engine, err := a.permissionEngine(at)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var offered []string
	grants := engine.Grants()
	for i, short := range shortIDs(grants) {
		offered = append(offered, short+"\t"+oneLine(grants[i].Rule))
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}
