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
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/session"
)

func (a *app) eventCommand() *cobra.Command {
	return group("event", "Show and verify what happened", a.eventLsCommand(), a.eventShowCommand(), a.eventTailCommand(), a.eventVerifyCommand())
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

// events lists the newest limit events of all stores, oldest first.
func (a *app) events(ctx context.Context, q event.Query) ([]event.Event, error) {
	stores, err := a.eventStores(ctx)
	if err != nil {
		return nil, err
	}
	all := []event.Event{}
	for _, s := range stores {
		some, err := s.List(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortStableFunc(all, func(x, y event.Event) int { return strings.Compare(x.ID, y.ID) })
	if q.Limit > 0 && len(all) > q.Limit {
		all = all[len(all)-q.Limit:]
	}
	return all, nil
}

func (a *app) eventLsCommand() *cobra.Command {
	q := event.Query{Newest: true}
	c := &cobra.Command{
		Use:   "ls",
		Short: "List the events of the current session and of the project",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.Limit < 1 {
				return fault.New(fault.InvalidInput, "usage", "--limit %d: at least 1 is wanted", q.Limit)
			}
			all, err := a.events(cmd.Context(), q)
			if err != nil {
				return err
			}
			return a.print(all, func(w io.Writer) {
				for _, e := range all {
					fmt.Fprintln(w, eventLine(e))
				}
			})
		},
	}
	c.Flags().StringSliceVar(&q.Types, "type", nil, "only these types, such as tool.failed")
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
	return printable(strings.TrimRight(fmt.Sprintf("%s  %-22s %-24s %s", e.Timestamp.Local().Format("15:04:05.000"), e.Type, who, fact(e)), " "))
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
	return strings.TrimSpace(p.Digest + " " + p.Reason)
}

func (a *app) eventShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show one event as it is stored",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			stores, err := a.eventStores(cmd.Context())
			if err != nil {
				return err
			}
			for _, s := range stores {
				e, err := s.Get(cmd.Context(), args[0])
				if fault.Is(err, fault.NotFound) {
					continue
				}
				if err != nil {
					return err
				}
				return a.printJSON(e)
			}
			return fault.New(fault.NotFound, "unknown_event", "no event %q in this session or project", args[0]).WithHint("air event ls -o json shows the ids")
		},
	}
}

func (a *app) eventTailCommand() *cobra.Command {
	var follow bool
	var lines int
	c := &cobra.Command{
		Use:   "tail",
		Short: "Show the last events, and with --follow what comes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			seen, err := a.events(cmd.Context(), event.Query{Newest: true, Limit: max(lines, 1)})
			for {
				if err != nil {
					return err
				}
				last := ""
				for _, e := range seen {
					if err := a.printEvent(e); err != nil {
						return err
					}
					last = e.ID
				}
				if !follow {
					return nil
				}
				if seen, err = a.waitForEvents(cmd.Context(), last); cmd.Context().Err() != nil {
					return nil // ctrl-C is how following ends
				}
			}
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until interrupted")
	c.Flags().IntVarP(&lines, "lines", "n", 20, "start with this many")
	return c
}

func (a *app) printEvent(e event.Event) error {
	if a.flags.output == "json" {
		return json.NewEncoder(a.stdout).Encode(e)
	}
	_, err := fmt.Fprintln(a.stdout, eventLine(e))
	return err
}

// waitForEvents looks a few times a second: other processes write the stores.
func (a *app) waitForEvents(ctx context.Context, after string) ([]event.Event, error) {
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
		if fresh, err := a.eventsAfter(ctx, after); err != nil || len(fresh) > 0 {
			return fresh, err
		}
	}
}

func (a *app) eventsAfter(ctx context.Context, after string) ([]event.Event, error) {
	defer a.close()
	all, err := a.events(ctx, event.Query{Newest: true, Limit: 1000})
	if err != nil {
		return nil, err
	}
	i, _ := slices.BinarySearchFunc(all, after, func(e event.Event, id string) int { return strings.Compare(e.ID, id) })
	if i < len(all) && all[i].ID == after {
		i++
	}
	return all[i:], nil
}

// chain is the state of one store's chain.
type chain struct {
	Store string `json:"store"`
	event.Report
}

func (a *app) eventVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check that no stored event was changed, removed or reordered",
		Long: "Check the chain of every session of this project and of the project itself. This detects changes, gaps and a\n" +
			"cut tail made by anyone without the key in ~/.air/keys; who holds that key can forge a chain.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			reports, err := a.verifyAll(cmd.Context())
			if err != nil {
				return err
			}
			bad := false
			err = a.print(reports, func(w io.Writer) {
				for _, r := range reports {
					fmt.Fprintf(w, "%s: %d events, %d problems\n", r.Store, r.Events, len(r.Problems))
					for _, p := range r.Problems {
						fmt.Fprintf(w, "  %s\n", p)
					}
				}
			})
			for _, r := range reports {
				bad = bad || len(r.Problems) > 0
			}
			if err == nil && bad {
				err = fault.New(fault.Integrity, "chain", "stored events were changed").WithHint("the problems name the events; compare with a backup of ~/.air")
			}
			return err
		},
	}
}

func (a *app) verifyAll(ctx context.Context) ([]chain, error) {
	at, err := a.place()
	if err != nil {
		return nil, err
	}
	sessions, err := session.List(ctx, at.project, at.home)
	if err != nil {
		return nil, err
	}
	project, err := a.projectEvents(at)
	if err != nil {
		return nil, err
	}
	report, err := project.Verify(ctx)
	if err != nil {
		return nil, err
	}
	all := []chain{{"project", report}}
	for _, summary := range sessions {
		s, err := session.Current(ctx, at.project, at.home, session.Options{Session: summary.ID})
		if err != nil {
			return nil, err
		}
		a.later(s.Close)
		report, err := s.Events.Verify(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, chain{"session " + summary.ID, report})
	}
	return all, nil
}
