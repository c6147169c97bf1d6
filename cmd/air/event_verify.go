package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/session"
)

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
	sessions, err := session.List(at.project, at.home)
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
		report, err := verifySession(ctx, at, summary.ID)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil { // one store that cannot be read does not hide the others
			report.Problems = append(report.Problems, err.Error())
		}
		all = append(all, chain{"session " + summary.ID, report})
	}
	return all, nil
}

func verifySession(ctx context.Context, at place, id string) (event.Report, error) {
	s, err := session.Current(ctx, at.project, at.home, session.Options{Session: id})
	if err != nil {
		return event.Report{}, err
	}
	report, err := s.Events.Verify(ctx)
	return report, errors.Join(err, s.Close())
}
