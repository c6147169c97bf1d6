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
	var wanted wantedGrant
	c := &cobra.Command{
		Use:   "grant EFFECT(PATTERN)",
		Short: "Allow something that would be asked, in this project",
		Long: "Store a grant. A grant turns an ask into an allow; it never opens what a rule denies or what lies above a\n" +
			"capability's ceiling. It belongs to this project, and to one capability where --for names it. A grant of a\n" +
			"command that executes a script of the project is bound to what the script holds now: a change asks again.",
		Example: `  air permission grant 'overwrite(docs/**)'
  air permission grant 'run(go test **)'
  air permission grant 'net(https://modules.example:443)' --this-session
  air permission grant 'read(/srv/data/**)' --for csv-insight@sha256:… --expires 2027-01-31`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted.effect = strings.TrimSpace(strings.TrimPrefix(args[0], "allow: "))
			return a.grant(cmd.Context(), wanted)
		},
	}
	c.Flags().StringVar(&wanted.caller, "for", "", "the capability, as ID@DIGEST (default: people, their agents and built-in tools)")
	c.Flags().BoolVar(&wanted.session, "this-session", false, "only for the current session")
	c.Flags().StringVar(&wanted.expires, "expires", "", "the day on which it ends, as YYYY-MM-DD")
	c.Flags().StringVar(&wanted.script, "script", "", "the script that the command executes, where its pattern does not say it")
	return c
}

// wantedGrant is a grant as its command line has it.
type wantedGrant struct {
	effect, caller  string
	session         bool
	expires, script string
}

func (a *app) grant(ctx context.Context, wanted wantedGrant) error {
	at, err := a.needProject()
	if err != nil {
		return err
	}
	engine, err := a.permissionEngine(at, nil)
	if err != nil {
		return err
	}
	g := permission.Grant{Rule: "allow: " + wanted.effect, For: wanted.caller}
	if g.Expires, err = parseDay(wanted.expires); err != nil {
		return err
	}
	if wanted.session {
		s, err := a.session(ctx, at)
		if err != nil {
			return err
		}
		g.Session = s.ID
	}
	if g.ScriptSHA256, err = a.scriptOf(ctx, wanted); err != nil {
		return err
	}
	if g, err = engine.AddGrant(ctx, g); err != nil {
		return err
	}
	for _, info := range engine.GrantInfos() {
		if info.ID == g.ID && info.Warning != "" {
			a.warn("warning: %s", info.Warning)
		}
	}
	events, err := a.projectEvents(at)
	if err != nil {
		return err
	}
	if err := appendEvent(ctx, events, event.PermissionGranted, map[string]any{"grant": g}); err != nil {
		return err
	}
	return a.print(g, func(w io.Writer) { fmt.Fprintf(w, "%s  %s\n", g.ID, oneLine(g.Rule)) })
}

// scriptOf is the digest of what the script holds now that a granted command executes: the
// named one, or the one that the analysis finds in a command without wildcards.
func (a *app) scriptOf(ctx context.Context, wanted wantedGrant) (sha256 string, err error) {
	command := wanted.command()
	if wanted.script == "" && command == "" {
		return "", nil
	}
	r, err := a.enabled(ctx)
	if err != nil {
		return "", err
	}
	if wanted.script != "" {
		return r.ScriptDigest(wanted.script)
	}
	input, err := json.Marshal(map[string]string{"command": command, "cwd": "."})
	if err != nil {
		return "", err
	}
	explanations, err := r.Explain(ctx, runtime.Call{Tool: "shell.run", Input: input})
	if err != nil {
		return "", ctx.Err() // what cannot be analysed executes no script that is known
	}
	for _, e := range explanations {
		if e.Effect.Kind == permission.Run && e.Effect.Target == command && e.Effect.ScriptSHA256 != "" {
			a.note("bound to what %s holds now (sha256 %.12s)", e.Effect.Script, e.Effect.ScriptSHA256)
			return e.Effect.ScriptSHA256, nil
		}
	}
	return "", nil
}

// command is the granted command, "" where it is none or a pattern of several.
func (g *wantedGrant) command() string {
	inner, isRun := strings.CutPrefix(g.effect, "run(")
	inner, whole := strings.CutSuffix(inner, ")")
	words, err := permission.SplitArgv(inner)
	if !isRun || !whole || err != nil || permission.JoinArgv(words) != inner {
		return ""
	}
	return inner
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
			engine, err := a.permissionEngine(at, nil)
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

func (a *app) completeGrants(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	at, err := a.place()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	engine, err := a.permissionEngine(at, nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var offered []string
	for _, g := range grantViews(engine) {
		offered = append(offered, g.ShortID+"\t"+oneLine(g.Rule))
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}
