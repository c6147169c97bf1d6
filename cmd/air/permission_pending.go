package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
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
	// Run is the call that asked, the newest. Together are the commands that allow all that
	// this call asked for, where that is more than this and commands allow it.
	Run      string   `json:"run_id"`
	Together []string `json:"together,omitempty"`
}

func (a *app) permissionPendingCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pending",
		Short: "Show what was refused in this session because nobody could be asked",
		Long: "Show, newest first, each effect that needed a person's answer in this session when there was nobody to ask, by\n" +
			"which rule, and the command that allows it; behind what one call asked for, the commands that allow all of it. What\n" +
			"has been allowed since is left out.",
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
				for i, p := range pending {
					p.write(w)
					if i+1 == len(pending) || pending[i+1].Run != p.Run {
						p.writeTogether(w)
					}
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
	tools, err := a.enabled(ctx)
	if err != nil {
		return nil, err
	}
	still := []pendingAsk{}
	for _, p := range open {
		waits, err := p.waits(ctx, tools, at.home.Path("permissions.yaml"))
		if err != nil {
			return nil, err
		}
		if waits {
			still = append(still, p)
		}
	}
	for _, call := range byCall(still) {
		together(call)
	}
	return still, nil
}

// decidedCall is what an event says of the effects of a call.
type decidedCall struct {
	Run       string                      `json:"run_id"`
	Parent    string                      `json:"parent_run_id"`
	Tool      string                      `json:"tool"`
	Decisions []permission.StoredDecision `json:"decisions"`
	Asks      []permission.StoredDecision `json:"asks"` // of permission.requested
	LeftOut   int                         `json:"left_out"`
}

func readDecided(e event.Event) (c decidedCall, err error) {
	if err = json.Unmarshal(e.Payload, &c); err != nil {
		err = fault.New(fault.Integrity, "bad_event", "event %s: %w", e.ID, err)
	}
	return c, err
}

// notWhole says why the target of a stored decision is another text than it was, "" where
// it is not.
func notWhole(d permission.StoredDecision) string {
	switch {
	case d.TargetSHA256 != "":
		return "it is too long to be kept whole"
	case strings.Contains(d.Effect.Target, "[redacted:"):
		return "it has a secret in it, which is not kept"
	}
	return ""
}

// unanswered are the asks in recorded decisions, newest first, the same one once. Where
// something else of the call was denied, an answer would not have helped.
func unanswered(events []event.Event) ([]pendingAsk, error) {
	var open []pendingAsk
	index := map[string]int{}
	for _, e := range slices.Backward(events) {
		call, err := readDecided(e)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(call.Decisions, func(d permission.StoredDecision) bool { return d.Verdict == permission.Deny }) {
			continue
		}
		for _, d := range call.Decisions {
			if d.Verdict != permission.Ask {
				continue
			}
			key := strings.Join(append([]string{call.Tool, string(d.Effect.Kind), d.Effect.Target, d.TargetSHA256}, e.Route...), "\x00")
			at, known := index[key]
			if !known {
				at = len(open)
				index[key] = at
				open = append(open, newAsk(e, call.Tool, call.Run, d))
			}
			open[at].Count++
		}
	}
	return open, nil
}

func newAsk(e event.Event, tool, run string, d permission.StoredDecision) pendingAsk {
	p := pendingAsk{Time: e.Timestamp, Tool: tool, Route: e.Route, Effect: d.Effect, Code: d.Code, Rule: d.Rule, Reason: d.Reason, Run: run}
	if why := notWhole(d); why != "" {
		p.Note = why + ": a person at the terminal can allow it"
	}
	return p
}

// waits reports whether an effect would be asked about today, and fills in how it is
// allowed. userFile holds the person's own rules.
func (p *pendingAsk) waits(ctx context.Context, tools *runtime.Registry, userFile string) (bool, error) {
	if p.Note != "" {
		return true, nil
	}
	request, decisions, err := tools.Redecide(ctx, p.Tool, p.Route, []permission.Effect{p.Effect})
	if err != nil {
		p.Note = fault.From(err).Message
		return true, ctx.Err()
	}
	script, now := p.Effect.Script, decisions[0]
	if now.Verdict != permission.Ask {
		return false, nil
	}
	p.Effect, p.Code, p.Rule, p.Reason = now.Effect, now.Code, now.Rule, now.Reason
	if script != "" && now.Effect.Script == "" { // what it would hold is not known
		p.Note = now.Effect.Why
		return true, nil
	}
	p.howTo(tools.Permission(), request, decisions, userFile)
	return true, nil
}

// howTo finds the grants that allow an effect: for always, or else for this session. Where
// none does, or a command line cannot show it, a rule of the person's own may.
func (p *pendingAsk) howTo(engine *permission.Engine, r permission.Request, asks []permission.Decision, userFile string) {
	for _, session := range []string{"", r.SessionID} {
		grants, answered := engine.GrantsFor(r, asks, session)
		if !answered {
			continue
		}
		if p.Allow = grantCommands(grants, p.Effect.Script); p.Allow != nil {
			return
		}
	}
	rules, open := engine.RulesFor(r, asks)
	if len(open) > 0 || len(rules) != 1 || rules[0].For != "" {
		p.Note = "no grant and no rule can name this: a person at the terminal can allow it"
		return
	}
	p.Line, p.File = rules[0].UserLine(), userFile
}
