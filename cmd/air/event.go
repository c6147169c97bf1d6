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
	"github.com/aircoding/air/runtime/event"
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

// eventLine is one event on one line: time, type, who, and the fact that matters.
func eventLine(e event.Event) string {
	who := e.Source.ID
	if len(e.Route) > 0 {
		who = strings.Join(e.Route, " > ") + " > " + who
	}
	return oneLine(strings.TrimRight(fmt.Sprintf("%s  %-22s %-24s %s", e.Timestamp.Local().Format("15:04:05.000"), e.Type, who, fact(e)), " "))
}

// fact is the part of a payload that a reader of a list wants.
func fact(e event.Event) string {
	var p struct {
		Tool       string       `json:"tool"`
		Capability string       `json:"capability_id"`
		Digest     string       `json:"digest"`
		Reason     string       `json:"reason"`
		DurationMS *int64       `json:"duration_ms"`
		Error      *fault.Error `json:"error"`
		Decisions  []struct {
			Effect  struct{ Kind, Target string } `json:"effect"`
			Verdict string                        `json:"verdict"`
			Rule    string                        `json:"rule"`
		} `json:"decisions"`
	}
	if json.Unmarshal(e.Payload, &p) != nil {
		return ""
	}
	switch {
	case p.Error != nil:
		return fmt.Sprintf("%s: %s", p.Error.Kind, p.Error.Message)
	case len(p.Decisions) > 0:
		var parts []string
		for _, d := range p.Decisions {
			parts = append(parts, fmt.Sprintf("%s %s(%s) [%s]", d.Verdict, d.Effect.Kind, d.Effect.Target, d.Rule))
		}
		return strings.Join(parts, "; ")
	case p.DurationMS != nil:
		return fmt.Sprintf("%d ms", *p.DurationMS)
	}
	return strings.TrimSpace(p.Capability + " " + p.Digest + " " + p.Reason)
}
