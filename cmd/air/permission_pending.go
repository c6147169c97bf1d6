package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/session"
)

// pendingAsk is an effect that was refused because nobody could be asked.
type pendingAsk struct {
	Time   time.Time         `json:"time"` // of the last time
	Count  int               `json:"count"`
	Tool   string            `json:"tool"`
	Route  []string          `json:"route,omitempty"` // the capabilities that asked, outermost first
	Effect permission.Effect `json:"effect"`
	Code   string            `json:"code"`
	Rule   string            `json:"rule"`
	Reason string            `json:"reason"`
	// Allow are the commands that allow it, all of them needed. Where no grant may,
	// Line is what allows it as a rule in File.
	Allow []string `json:"allow,omitempty"`
	Line  string   `json:"line,omitempty"`
	File  string   `json:"file,omitempty"`
	Note  string   `json:"note,omitempty"` // why neither would
}

func (a *app) permissionPendingCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pending",
		Short: "Show what was refused in this session because nobody could be asked",
		Long: "Show, newest first, each effect that needed a person's answer in this session when there was nobody to ask, by\n" +
			"which rule, and the command that allows it. What has been allowed since is left out.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			pending, err := a.pending(cmd.Context(), at)
			if err != nil {
				return err
			}
			return a.print(pending, func(w io.Writer) {
				for _, p := range pending {
					p.write(w)
				}
				if len(pending) == 0 {
					fmt.Fprintln(w, "nothing waits for an answer")
				}
			})
		},
	}
}

// maxPending bounds how many events are looked at, the newest.
const maxPending = 1000

func (a *app) pending(ctx context.Context, at place) ([]pendingAsk, error) {
	s, err := a.session(ctx, at)
	if err != nil {
		return nil, err
	}
	events, err := s.Events.List(ctx, event.Query{Types: []string{event.PermissionDecided}, Newest: true, Limit: maxPending})
	if err != nil {
		return nil, err
	}
	open, err := unanswered(events)
	if err != nil || len(open) == 0 {
		return []pendingAsk{}, err
	}
	again, err := a.decideAgain(ctx, at, s)
	if err != nil {
		return nil, err
	}
	still := []pendingAsk{}
	for _, p := range open {
		waits, err := again.waits(ctx, &p)
		if err != nil {
			return nil, err
		}
		if waits {
			still = append(still, p)
		}
	}
	return still, nil
}

// storedDecision is a decision as events keep it: of a long target the beginning.
type storedDecision struct {
	permission.Decision
	TargetSHA256 string `json:"target_sha256"`
}

// unanswered are the asks in recorded decisions, newest first, the same one once. Where
// something else of the call was denied, an answer would not have helped.
func unanswered(events []event.Event) ([]pendingAsk, error) {
	var open []pendingAsk
	index := map[string]int{}
	for _, e := range slices.Backward(events) {
		var p struct {
			Tool      string           `json:"tool"`
			Decisions []storedDecision `json:"decisions"`
		}
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			return nil, fault.New(fault.Integrity, "bad_event", "event %s: %w", e.ID, err)
		}
		if slices.ContainsFunc(p.Decisions, func(d storedDecision) bool { return d.Verdict == permission.Deny }) {
			continue
		}
		for _, d := range p.Decisions {
			if d.Verdict != permission.Ask {
				continue
			}
			key := strings.Join(append([]string{p.Tool, string(d.Effect.Kind), d.Effect.Target, d.TargetSHA256}, e.Route...), "\x00")
			at, known := index[key]
			if !known {
				at = len(open)
				index[key] = at
				ask := pendingAsk{Time: e.Timestamp, Tool: p.Tool, Route: e.Route, Effect: d.Effect, Code: d.Code, Rule: d.Rule, Reason: d.Reason}
				if d.TargetSHA256 != "" {
					ask.Note = "it is too long to be kept whole: a person at the terminal can allow it"
				}
				open = append(open, ask)
			}
			open[at].Count++
		}
	}
	return open, nil
}

// again decides what was asked about once more.
type again struct {
	session string
	paths   *permission.Paths
	engine  *permission.Engine
	trial   *permission.Engine // the same rules, and grants that are stored nowhere
	tools   *runtime.Registry
	owners  map[string]permission.Caller
	file    string // of the person's own rules
}

func (a *app) decideAgain(ctx context.Context, at place, s *session.Session) (*again, error) {
	d := &again{session: s.ID, owners: map[string]permission.Caller{}, file: at.home.Path("permissions.yaml")}
	var err error
	if d.paths, err = a.paths(at, filepath.Join(s.Dir, "artifacts")); err != nil {
		return nil, err
	}
	if d.engine, err = a.permissions(at, d.paths); err != nil {
		return nil, err
	}
	if d.trial, err = a.trial(at, d.paths, nil); err != nil {
		return nil, err
	}
	if d.tools, err = a.enabled(ctx); err != nil {
		return nil, err
	}
	tools, err := d.tools.Tools(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range tools {
		if !t.BuiltIn() {
			d.owners[t.Owner.Capability] = t.Owner
		}
	}
	return d, nil
}

// waits reports whether an effect would be asked about today, and fills in how it is
// allowed.
func (d *again) waits(ctx context.Context, p *pendingAsk) (bool, error) {
	if p.Note != "" {
		return true, nil
	}
	if p.Effect.Script != "" { // what it holds now is what would be allowed
		sha256, err := scriptDigest(d.paths, p.Effect.Script)
		if err != nil {
			p.Note = err.Error()
			return true, nil
		}
		p.Effect.ScriptSHA256 = sha256
	}
	request := permission.Request{SessionID: d.session, Effects: []permission.Effect{p.Effect}}
	tool, err := d.tools.Lookup(ctx, p.Tool)
	if err != nil {
		p.Note = "the tool is not enabled here any more"
		return true, ctx.Err()
	}
	request.Subject = permission.Subject{Tool: tool.Name, BuiltIn: tool.BuiltIn(), Capability: tool.Capability, Permissions: tool.Permissions}
	for _, id := range p.Route {
		owner, enabled := d.owners[id]
		if !enabled {
			p.Note = fmt.Sprintf("capability %s is not enabled here: a person at the terminal can allow what it does", id)
			return true, nil
		}
		request.Chain = append(request.Chain, owner)
	}
	now := d.engine.Decide(request)[0]
	if now.Verdict != permission.Ask {
		return false, nil
	}
	p.Code, p.Rule, p.Reason = now.Code, now.Rule, now.Reason
	return true, d.howTo(ctx, p, request)
}

// howTo finds the grants that allow an effect, by trying them; for always, and else for
// this session. Where none does, a rule of the person's own may.
func (d *again) howTo(ctx context.Context, p *pendingAsk, r permission.Request) error {
	for _, forSession := range []string{"", d.session} {
		grants := d.grants(r)
		for i := range grants {
			grants[i].Session = forSession
		}
		opens, err := d.opens(ctx, grants, r)
		if err != nil {
			return err
		}
		if opens {
			for _, g := range grants {
				p.Allow = append(p.Allow, grantCommand(g))
			}
			return nil
		}
	}
	rules, open := d.engine.RulesFor(r, d.engine.Decide(r))
	if len(open) > 0 || len(rules) != 1 || rules[0].For != "" {
		p.Note = "no grant and no rule can name this: a person at the terminal can allow it"
		return nil
	}
	p.Line, p.File = "allow: "+rules[0].User, d.file
	return nil
}

// grants are those that the callers need of whom it is asked.
func (d *again) grants(r permission.Request) []permission.Grant {
	rule, ok := grantText(d.paths, &r.Effects[0])
	if !ok {
		return nil
	}
	grant := permission.Grant{Rule: "allow: " + rule, ScriptSHA256: r.Effects[0].ScriptSHA256}
	if len(r.Chain) == 0 {
		return []permission.Grant{grant}
	}
	var grants []permission.Grant
	for _, c := range r.Chain {
		alone := r
		alone.Chain = []permission.Caller{c}
		if d.engine.Decide(alone)[0].Verdict == permission.Ask {
			grant.For = c.Capability + "@" + c.Digest
			grants = append(grants, grant)
		}
	}
	return grants
}

func (d *again) opens(ctx context.Context, grants []permission.Grant, r permission.Request) (bool, error) {
	opened := len(grants) > 0
	for _, g := range grants {
		stored, err := d.trial.AddGrant(ctx, g)
		if fault.Is(err, fault.InvalidInput) {
			opened = false
			continue
		}
		if err != nil {
			return false, err
		}
		defer func() { _, _ = d.trial.Revoke(ctx, stored.ID) }() // it is in memory only
	}
	return opened && d.trial.Decide(r)[0].Verdict == permission.Allow, nil
}

func grantCommand(g permission.Grant) string {
	words := []string{"air", "permission", "grant", strings.TrimPrefix(g.Rule, "allow: ")}
	if g.For != "" {
		words = append(words, "--for", g.For)
	}
	if g.Session != "" {
		words = append(words, "--this-session")
	}
	return permission.JoinArgv(words)
}

func (p pendingAsk) write(w io.Writer) {
	who := p.Tool
	if len(p.Route) > 0 {
		who = strings.Join(p.Route, " > ") + " > " + who
	}
	times := ""
	if p.Count > 1 {
		times = fmt.Sprintf("  (%d times)", p.Count)
	}
	fmt.Fprintf(w, "%s  %s  %s%s\n", p.Time.Local().Format(time.DateTime), oneLine(who), oneLine(p.Effect.String()), times)
	fmt.Fprintf(w, "  why:   %s (%s)\n", oneLine(p.Reason), oneLine(p.Rule))
	for _, command := range p.Allow {
		fmt.Fprintf(w, "  allow: %s\n", oneLine(command))
	}
	if p.Line != "" {
		fmt.Fprintf(w, "  allow, in %s:\n    %s\n", p.File, oneLine(p.Line))
	}
	if p.Note != "" {
		fmt.Fprintf(w, "  note:  %s\n", oneLine(p.Note))
	}
}
