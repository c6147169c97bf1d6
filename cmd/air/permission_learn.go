package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
	"github.com/aircoding/air/runtime/session"
)

// learner is the terminal of a call that rules are learned from. It offers yes and deny
// alone: what lasts is written at the end, for all of the call.
type learner struct{ *permission.Terminal }

// Approve asks.
func (l learner) Approve(ctx context.Context, q permission.Question) (permission.Answer, error) {
	q.OnceOnly, q.AnyHost, q.Rules, q.Learning = true, false, nil, true
	return l.Terminal.Approve(ctx, q)
}

func (a *app) permissionLearnCommand() *cobra.Command {
	var user bool
	c := &cobra.Command{
		Use:   "learn [--user] -- (call TOOL | run DIR TOOL) [JSON | @FILE | -]",
		Short: "Run a call once with prompts, and write the rules that it needs",
		Long: "Run air call or air run once. What it needs is asked on the terminal; at the end the smallest rules that cover\n" +
			"what was allowed are shown and, after one more question, written: into the project's .air/shared/permissions.yaml,\n" +
			"which stays accepted if it was, and into your own permissions.yaml what a project's file cannot open or should\n" +
			"not name. Then the same call needs nobody. There is no way to say yes but on the terminal.",
		Example: `  air permission learn -- call fs.write '{"path":"notes.txt","content":"two"}'`,
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.needProject()
			if err != nil {
				return err
			}
			l := &lesson{app: a, at: at, user: user}
			return l.take(cmd.Context(), args)
		},
	}
	c.Flags().BoolVar(&user, "user", false, "write all rules into your own permissions.yaml, for this project's paths by their full names")
	return c
}

// lesson is one run of learn.
type lesson struct {
	app     *app
	at      place
	user    bool
	tools   *runtime.Registry
	person  bool // there is one to ask
	session *session.Session
	paths   *permission.Paths

	allowed []allowedCall
	files   []*ruleChange
	notes   []string            // on what was allowed and no rule covers
	open    []permission.Effect // those of which the notes say that no rule can allow them
}

func (l *lesson) take(ctx context.Context, args []string) error {
	call, err := l.prepare(ctx, args)
	if err != nil {
		return err
	}
	if !l.person {
		return fault.New(fault.ApprovalRequired, "no_terminal", "rules are learned from a person's answers, and there is no terminal to ask on").
			WithHint("a person runs this in a terminal of their own")
	}
	envelope := l.tools.Call(ctx, call)
	if l.app.flags.output != "json" && envelope.Error == nil {
		if err := l.app.printEnvelope(envelope); err != nil {
			return err
		}
	}
	err = l.conclude(ctx, envelope)
	switch {
	case err != nil || envelope.Error == nil:
		return err
	case l.app.flags.output == "json":
		return &shownError{envelope.Error}
	}
	return envelope.Error
}

// prepare finds the call that the arguments mean, and the registry that it is made in.
func (l *lesson) prepare(ctx context.Context, args []string) (call runtime.Call, err error) {
	a := l.app
	tool, rest := args[1], args[2:]
	switch {
	case args[0] == "call":
		l.tools, err = a.enabledWith(ctx, l.wiring())
	case args[0] == "run" && len(rest) > 0:
		tool, rest = rest[0], rest[1:]
		tool, err = l.single(ctx, args[1], tool)
	default:
		err = fault.New(fault.InvalidInput, "usage", "%.80q: call TOOL or run DIR TOOL is wanted behind --", strings.Join(args, " "))
	}
	if err == nil && len(rest) > 1 {
		err = fault.New(fault.InvalidInput, "usage", "one input is wanted, there are %d", len(rest))
	}
	if err != nil {
		return call, err
	}
	input, err := a.input(rest)
	return runtime.Call{Tool: tool, Input: input, Timeout: a.flags.timeout}, err
}

// wiring puts the learner in front of the terminal.
func (l *lesson) wiring() wiring {
	return wiring{approver: func(t *permission.Terminal) permission.Approver {
		l.person = true
		return learner{t}
	}}
}

// single is the registry of a capability that is not installed, as air run has it.
func (l *lesson) single(ctx context.Context, target, name string) (tool string, err error) {
	a := l.app
	bundle, err := a.resolve(ctx, l.at, target, &transportFlags{})
	if err != nil {
		return "", err
	}
	one := capabilities.Single{Bundle: bundle.Bundle, NewImplementation: newGuest(a.pool(l.at))}
	if l.tools, err = a.registryWith(ctx, l.at, one, nil, l.wiring()); err != nil {
		return "", err
	}
	return toolName(bundle.Manifest.CapabilityID, name), nil
}

// conclude shows and writes the rules.
func (l *lesson) conclude(ctx context.Context, envelope runtime.Envelope) error {
	a := l.app
	if err := l.gather(ctx, envelope.RunID); err != nil {
		return err
	}
	if len(l.files) == 0 {
		a.warn("%s", l.nothing())
		return l.report(envelope, false)
	}
	for _, note := range l.notes {
		a.warn("%s", note)
	}
	var names []string
	for _, f := range l.files {
		names = append(names, f.File)
		a.warn("rules for %s:%s", f.File, f.shown())
	}
	if err := a.confirm(ctx, "Write them to "+strings.Join(names, " and ")+"?", false); err != nil {
		return err
	}
	for _, f := range l.files {
		if err := l.write(ctx, f); err != nil {
			return err
		}
	}
	return l.report(envelope, true)
}

func (l *lesson) nothing() string {
	if len(l.allowed) == 0 {
		return "nothing was asked and allowed: nothing is written"
	}
	return strings.Join(append(l.notes, "nothing is written"), "; ")
}

func (l *lesson) report(envelope runtime.Envelope, written bool) error {
	a := l.app
	if a.flags.output == "json" {
		files := append([]*ruleChange{}, l.files...)
		return a.printJSON(map[string]any{"call": envelope, "files": files, "written": written})
	}
	if written {
		for _, f := range l.files {
			a.note("wrote %s to %s", counted(len(f.Rules), "rule"), f.File)
		}
	}
	return nil
}

// gather turns what was allowed into changes of rule files, and proves by trying that
// they allow it.
func (l *lesson) gather(ctx context.Context, run string) (err error) {
	if l.session, err = l.app.session(ctx, l.at); err != nil {
		return err
	}
	if l.paths, err = l.app.paths(l.at, filepath.Join(l.session.Dir, "artifacts")); err != nil {
		return err
	}
	if l.allowed, err = l.calls(ctx, run); err != nil {
		return err
	}
	project := &ruleChange{File: l.at.project.Shared("permissions.yaml"), project: true}
	own := &ruleChange{File: l.at.home.Path("permissions.yaml")}
	var asked []permission.Request
	for _, call := range l.allowed {
		r, asks, err := l.tools.Redecide(ctx, call.tool, call.route, l.whole(call))
		if err != nil {
			return err
		}
		asked = append(asked, r)
		l.learn(r, asks, project, own)
	}
	for _, f := range []*ruleChange{project, own} {
		if len(f.texts) == 0 {
			continue
		}
		if err := l.draft(f); err != nil {
			return err
		}
		l.files = append(l.files, f)
	}
	return l.prove(asked)
}

// allowedCall is a call of which a person allowed what was asked.
type allowedCall struct {
	tool    string
	route   []string
	asks    []permission.StoredDecision
	leftOut int
}

// calls are those that a run led to, itself included, and a person allowed.
func (l *lesson) calls(ctx context.Context, run string) (allowed []allowedCall, err error) {
	first, err := l.session.Events.List(ctx, event.Query{RunID: run, Limit: 1})
	if err != nil || len(first) == 0 {
		return nil, err
	}
	ours := map[string]bool{run: true}
	asked := map[string]decidedCall{}
	q := event.Query{After: first[0].ID, Types: []string{event.PermissionRequested, event.PermissionDecided}}
	err = eachEvent(ctx, l.session.Events, q, func(e event.Event) error {
		call, err := readDecided(e)
		if ours[call.Run] = ours[call.Run] || ours[call.Parent]; err != nil || !ours[call.Run] {
			return err
		}
		if e.Type == event.PermissionRequested {
			asked[call.Run] = call
			return nil
		}
		refused := slices.ContainsFunc(call.Decisions, func(d permission.StoredDecision) bool { return d.Verdict != permission.Allow })
		if question := asked[call.Run]; len(question.Asks) > 0 && !refused {
			allowed = append(allowed, allowedCall{call.Tool, e.Route, question.Asks, question.LeftOut})
		}
		return nil
	})
	return allowed, err
}

// whole are the effects that were asked about, without those that are not kept as they were.
func (l *lesson) whole(call allowedCall) (effects []permission.Effect) {
	for _, d := range call.asks {
		if why := notWhole(d); why != "" {
			l.notes = append(l.notes, fmt.Sprintf("no rule is made for %s: %s", d.Effect, why))
			continue
		}
		effects = append(effects, d.Effect)
	}
	if call.leftOut > 0 {
		l.notes = append(l.notes, fmt.Sprintf("no rules are made for %d more effects of %s: they are not kept", call.leftOut, call.tool))
	}
	return effects
}

// learn adds the rules that allow what was asked to the files that may hold them.
func (l *lesson) learn(r permission.Request, asks []permission.Decision, project, own *ruleChange) {
	rules, open := l.tools.Permission().RulesFor(r, append(slices.Clone(asks), l.nextTime(asks)...))
	for _, d := range open {
		why := fmt.Sprintf("%s (%s)", d.Reason, d.Rule)
		switch {
		case permission.Printable(d.Effect.Target) != d.Effect.Target:
			why = "it has characters that no rule may have"
		case d.Layer == permission.LayerRule:
			why = "a rule asks for it each time: change that one (" + d.Rule + ")"
		}
		l.open = append(l.open, d.Effect)
		l.notes = append(l.notes, fmt.Sprintf("no rule can allow %s: %s", d.Effect, why))
	}
	for _, rule := range rules {
		to, view := project, ruleView{rule.Project, rule.For}
		if l.user || rule.Project == "" {
			to, view = own, ruleView{rule.User, rule.For}
		}
		if slices.Contains(to.texts, rule) {
			continue
		}
		to.texts, to.Rules = append(to.texts, rule), append(to.Rules, view)
		if rule.Note != "" {
			l.notes = append(l.notes, view.Allow+": "+rule.Note)
		}
		if to == own && !l.user {
			l.notes = append(l.notes, view.Allow+" is a rule for your own file: "+rule.OwnOnly)
		}
	}
}

// nextTime are the asks about files that the call has made: the next time they are there,
// and are overwritten.
func (l *lesson) nextTime(asks []permission.Decision) []permission.Decision {
	var more []permission.Decision
	for _, d := range asks {
		if d.Effect.Kind != permission.Create {
			continue
		}
		if now, err := l.paths.Resolve(permission.Effect{Kind: permission.Write, Target: d.Effect.Target}); err == nil && now.Kind == permission.Overwrite {
			d.Effect.Kind = permission.Overwrite
			more = append(more, d)
		}
	}
	return more
}

const maxRuleFile = 256 << 10

var _ permission.Approver = learner{}
