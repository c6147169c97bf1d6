package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/capabilities"
)

func (a *app) enableCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "enable [ID[@DIGEST]]",
		Short: "Allow a capability in this project",
		Long: "Show what a capability is and what it asks for, and ask. Enabling allows exactly what was shown, to exactly\n" +
			"these bytes, for you in this project. Its module is then started once, without input, to save its calls that time.\n" +
			"Without an ID it asks about each that the project's accepted capabilities.yaml or its lock proposes.",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeInstalled,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, l, err := a.projectLifecycle()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.enableProposed(cmd.Context(), l, yes)
			}
			id, digest, err := idArgument(args[0])
			if err != nil {
				return err
			}
			status, err := a.enable(cmd.Context(), l, id, digest, yes)
			if err != nil {
				return err
			}
			return a.print(status, func(w io.Writer) { fmt.Fprintf(w, "enabled %s\n%s\n", id, status.Digest) })
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "accept what is shown without asking")
	return c
}

func (a *app) enable(ctx context.Context, l *capabilities.Lifecycle, id, digest string, yes bool) (capabilities.Status, error) {
	status, err := l.Enable(ctx, id, digest, a.consent(ctx, "Enable "+id+" in this project?", yes))
	if err == nil {
		a.afterConsent(ctx, l, status)
	}
	return status, err
}

// enableProposed asks about all that the project's accepted files propose.
func (a *app) enableProposed(ctx context.Context, l *capabilities.Lifecycle, yes bool) error {
	proposed, err := l.Proposed(ctx)
	if err != nil {
		return err
	}
	enabled := []capabilities.Status{}
	for _, p := range proposed {
		status, err := a.enable(ctx, l, p.ID, p.Digest, yes)
		if err != nil {
			return err
		}
		enabled = append(enabled, status)
	}
	return a.print(enabled, func(w io.Writer) {
		for _, s := range enabled {
			fmt.Fprintf(w, "enabled %s\n%s\n", s.ID, s.Digest)
		}
		if len(enabled) == 0 {
			fmt.Fprintln(w, "the accepted files of the project propose nothing that is not enabled")
		}
	})
}

// consent shows what a person is asked to agree to, and asks.
func (a *app) consent(ctx context.Context, question string, yes bool) func(capabilities.Disclosure) (bool, error) {
	return func(d capabilities.Disclosure) (bool, error) {
		if err := d.Write(a.stderr); err != nil {
			return false, err
		}
		err := a.confirm(ctx, question, yes)
		return err == nil, err
	}
}

// afterConsent prepares what a person agreed to, and says where the lock forbids it still.
func (a *app) afterConsent(ctx context.Context, l *capabilities.Lifecycle, s capabilities.Status) {
	if err := l.Usable(ctx, s.ID); err != nil {
		a.warn("warning: its calls are refused for now: %v", err)
		return
	}
	a.warmUp(ctx, l, s)
}
