package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/yamldoc"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

func (a *app) eventCommand() *cobra.Command {
	return group("event", "Show and verify what happened", a.eventLsCommand(), a.eventShowCommand(), a.eventTailCommand(), a.eventVerifyCommand(), a.eventExportCommand())
}

// eventStores are the current session's events and the project's own.
func (a *app) eventStores(ctx context.Context) ([]*event.Store, error) {
	at, err := a.place()
	if err != nil {
		return nil, err
	}
	s, err := a.session(ctx, at)
	if err != nil {
		return nil, err
	}
	p, err := a.projectEvents(at)
	if err != nil {
		return nil, err
	}
	return []*event.Store{s.Events, p}, nil
}

// merge orders events of several stores by time and keeps the newest limit.
func merge(lists [][]event.Event, limit int) []event.Event {
	all := append([]event.Event{}, slices.Concat(lists...)...)
	slices.SortStableFunc(all, func(x, y event.Event) int { return x.Timestamp.Compare(y.Timestamp) })
	return all[max(0, len(all)-limit):]
}

func (a *app) eventLsCommand() *cobra.Command {
	q := event.Query{Newest: true}
	var decisions bool
	c := &cobra.Command{
		Use:   "ls",
		Short: "List the events of the current session and of the project",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.Limit < 1 {
				return fault.New(fault.InvalidInput, "usage", "--limit %d: at least 1 is wanted", q.Limit)
			}
			if err := checkTypes(q.Types); err != nil {
				return err
			}
			if decisions {
				q.Types = append(q.Types, decisionTypes...)
			}
			stores, err := a.eventStores(cmd.Context())
			if err != nil {
				return err
			}
			var lists [][]event.Event
			for _, s := range stores {
				list, err := s.List(cmd.Context(), q)
				if err != nil {
					return err
				}
				lists = append(lists, list)
			}
			all := merge(lists, q.Limit)
			return a.print(all, func(w io.Writer) {
				for _, e := range all {
					fmt.Fprintln(w, eventLine(e))
				}
			})
		},
	}
	c.Flags().StringSliceVar(&q.Types, "type", nil, "only these types, such as tool.failed")
	c.Flags().BoolVar(&decisions, "decisions", false, "what was decided, asked, granted, accepted and undone")
	c.Flags().StringVar(&q.RunID, "run", "", "only events of this run")
	c.Flags().IntVar(&q.Limit, "limit", 100, "at most this many, the newest")
	return c
}

// checkTypes refuses types that no stored event has: nothing found would look like nothing
// happened.
func checkTypes(types []string) error {
	for _, t := range types {
		if event.IsDurable(t) || event.IsCustom(t) {
			continue
		}
		err := fault.New(fault.InvalidInput, "usage", "--type %.80q: no stored event has this type", t)
		if near := yamldoc.Nearest(t, event.Durable()); near != "" {
			return err.WithHint("did you mean %s?", near)
		}
		return err.WithHint("the types are %s", strings.Join(event.Durable(), ", "))
	}
	return nil
}

// eventLine is one event on one line: time, type, who, and the fact that matters.
func eventLine(e event.Event) string {
	route := e.Route
	if last := len(route) - 1; last < 0 || route[last] != e.Source.ID { // a capability that emits ends its own route
		route = append(slices.Clone(route), e.Source.ID)
	}
	who := strings.Join(route, " > ")
	return oneLine(strings.TrimRight(fmt.Sprintf("%s  %-22s %-24s %s", e.Timestamp.Local().Format("15:04:05.000"), e.Type, who, fact(e)), " "))
}

// facts are what a reader of a list wants of a payload.
type facts struct {
	Capability string                      `json:"capability_id"`
	Digest     string                      `json:"digest"`
	Reason     string                      `json:"reason"`
	DurationMS *int64                      `json:"duration_ms"`
	Error      *fault.Error                `json:"error"`
	Decisions  []permission.StoredDecision `json:"decisions"`
	Asks       []permission.StoredDecision `json:"asks"`
	Question   *permission.AgentQuestion   `json:"question"`
	Grant      *permission.Grant           `json:"grant"`
	Rules      []ruleView                  `json:"rules"`
	File       string                      `json:"file"`
	Files      json.RawMessage             `json:"files"` // accepted ones, or how many were restored
	Name       string                      `json:"name"`
	Data       json.RawMessage             `json:"data"` // what a capability says
	UndoneRun  string                      `json:"undone_run_id"`
	UndoneTool string                      `json:"undone_tool"`
}

func fact(e event.Event) string {
	var p facts
	if json.Unmarshal(e.Payload, &p) != nil {
		return ""
	}
	switch e.Type {
	case event.PermissionRequested:
		if p.Question != nil {
			return "the agent's question: " + p.Question.Subject
		}
		return decisionsFact(p.Asks)
	case event.PermissionGranted, event.PermissionRevoked:
		return p.granted()
	case event.ProjectAccepted:
		var files []permission.SharedFile
		if json.Unmarshal(p.Files, &files) != nil {
			return ""
		}
		return paths(files)
	case event.BackupRestored:
		return fmt.Sprintf("undid %s of run %s (files: %s)", p.UndoneTool, p.UndoneRun, p.Files)
	case event.SecretSet, event.SecretRemoved:
		return p.Name
	}
	switch {
	case event.IsCustom(e.Type):
		return string(p.Data)
	case p.Error != nil:
		return fmt.Sprintf("%s: %s", p.Error.Kind, p.Error.Message)
	case len(p.Decisions) > 0:
		return decisionsFact(p.Decisions)
	case p.DurationMS != nil:
		return fmt.Sprintf("%d ms", *p.DurationMS)
	}
	return strings.TrimSpace(p.Capability + " " + p.Digest + " " + p.Reason)
}

// granted are a grant, or the rules that were written into a file.
func (p *facts) granted() string {
	if p.Grant != nil {
		return notes(p.Grant.Rule, forWhom(p.Grant.For), lifetime(*p.Grant))
	}
	var parts []string
	for _, r := range p.Rules {
		parts = append(parts, notes("allow: "+r.Allow, forWhom(r.For)))
	}
	return strings.Join(append(parts, "in "+p.File), "; ")
}

func forWhom(capability string) string {
	if capability == "" {
		return ""
	}
	return "for " + capability
}

// decisionsFact names the refused effects first, then the asked ones. What was allowed by
// default is counted beside others, and where there is nothing else named but for the tool.
func decisionsFact(decisions []permission.StoredDecision) string {
	decisions = slices.Clone(decisions)
	slices.SortStableFunc(decisions, func(x, y permission.StoredDecision) int { return int(x.Verdict) - int(y.Verdict) })
	isDefault := func(d permission.StoredDecision) bool {
		return d.Verdict == permission.Allow && d.Layer == permission.LayerDefault
	}
	all := len(decisions)
	if !slices.ContainsFunc(decisions, func(d permission.StoredDecision) bool { return !isDefault(d) }) && all > 1 {
		isDefault = func(d permission.StoredDecision) bool { return d.Effect.Kind == permission.ToolCall }
	}
	if all > 1 {
		decisions = slices.DeleteFunc(decisions, isDefault)
	}
	var parts []string
	for _, d := range decisions {
		parts = append(parts, fmt.Sprintf("%s %s [%s]", d.Verdict, d.Effect, d.Rule))
	}
	if more := all - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("+%d allowed by default", more))
	}
	return strings.Join(parts, "; ")
}
