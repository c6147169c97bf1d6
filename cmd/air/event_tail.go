package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
)

func (a *app) eventTailCommand() *cobra.Command {
	var follow bool
	var lines int
	c := &cobra.Command{
		Use:   "tail",
		Short: "Show the last events, and with --follow what comes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if lines < 1 {
				return fault.New(fault.InvalidInput, "usage", "--lines %d: at least 1 is wanted", lines)
			}
			stores, err := a.eventStores(cmd.Context())
			if err != nil {
				return err
			}
			last, err := a.printLast(cmd.Context(), stores, lines)
			if err != nil || !follow {
				return err
			}
			return a.follow(cmd.Context(), stores, last)
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until interrupted")
	c.Flags().IntVarP(&lines, "lines", "n", 20, "start with this many")
	return c
}

// printLast prints the newest events and returns the last one of each store.
func (a *app) printLast(ctx context.Context, stores []*event.Store, lines int) (last []string, err error) {
	var lists [][]event.Event
	for _, s := range stores {
		list, err := s.List(ctx, event.Query{Newest: true, Limit: lines})
		if err != nil {
			return nil, err
		}
		lists = append(lists, list)
		last = append(last, lastID(list, ""))
	}
	return last, a.printEvents(merge(lists, lines))
}

func lastID(list []event.Event, otherwise string) string {
	if len(list) == 0 {
		return otherwise
	}
	return list[len(list)-1].ID
}

// follow prints what is new in each store. It looks a few times a second, for other
// processes write there.
func (a *app) follow(ctx context.Context, stores []*event.Store, last []string) error {
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil // an interrupt is how following ends
		case <-tick.C:
		}
		for i, s := range stores {
			list, err := s.List(ctx, event.Query{After: last[i]})
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			last[i] = lastID(list, last[i])
			if err := a.printEvents(list); err != nil {
				return err
			}
		}
	}
}

func (a *app) printEvents(list []event.Event) error {
	for _, e := range list {
		print := func() error { return a.write([]byte(fmt.Sprintln(eventLine(e)))) }
		if a.flags.output == "json" {
			print = func() error { return a.encode(e, "") }
		}
		if err := print(); err != nil {
			return err
		}
	}
	return nil
}
