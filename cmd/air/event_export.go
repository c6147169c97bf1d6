package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/otlp"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/session"
)

func (a *app) eventExportCommand() *cobra.Command {
	var format string
	var decisions, unverified bool
	c := &cobra.Command{
		Use:   "export",
		Short: "Write all events for other programs",
		Long: "Write the events of every session of this project and of the project itself, after checking their chains:\n" +
			"as JSON lines, or as OpenTelemetry spans in OTLP's JSON form, where each call is a span, calls within calls\n" +
			"are its children, and decisions are its events.",
		Example: `  air event export > events.jsonl
  air event export --format otlp > traces.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, known := exporters[format]
			if !known {
				return fault.New(fault.InvalidInput, "usage", "--format %q: jsonl or otlp is wanted", format)
			}
			if decisions && format != "jsonl" {
				return fault.New(fault.InvalidInput, "usage", "--decisions is for --format jsonl: spans are made of all events")
			}
			if err := a.checkChains(cmd.Context(), unverified); err != nil {
				return err
			}
			q := event.Query{}
			if decisions {
				q.Types = decisionTypes
			}
			return a.eachStore(cmd.Context(), func(store *event.Store, resource otlp.Attributes) error {
				return write(cmd.Context(), answer{a}, store, q, resource)
			})
		},
	}
	c.Flags().StringVar(&format, "format", "jsonl", "jsonl or otlp")
	c.Flags().BoolVar(&decisions, "decisions", false, "only what was decided, asked, granted, accepted and undone")
	c.Flags().BoolVar(&unverified, "unverified", false, "also when the chains show that events were changed")
	return c
}

// decisionTypes are the events of an audit: who was allowed what, by whom, and what of it
// was taken back.
var decisionTypes = []string{
	event.PermissionRequested, event.PermissionDecided, event.PermissionGranted, event.PermissionRevoked,
	event.ProjectAccepted, event.CapabilityEnabled, event.CapabilityDisabled,
	event.SecretSet, event.SecretRemoved, event.BackupRestored,
}

// answer is the command's answer on stdout, written in parts. Where the answer ends up is
// not known, and the texts in it are those of others.
type answer struct{ app *app }

func (w answer) Write(part []byte) (int, error) { return len(part), w.app.write(inert(part)) }

type exporter func(ctx context.Context, w io.Writer, store *event.Store, q event.Query, resource otlp.Attributes) error

var exporters = map[string]exporter{"jsonl": exportLines, "otlp": exportSpans}

// checkChains refuses to hand on events that are not those that were recorded.
func (a *app) checkChains(ctx context.Context, unverified bool) error {
	chains, err := a.verifyAll(ctx)
	if err != nil {
		return err
	}
	for _, c := range chains {
		if len(c.Problems) == 0 {
			continue
		}
		if !unverified {
			return fault.New(fault.Integrity, "chain", "%s: %s", c.Store, c.Problems[0]).WithHint("air event verify shows all; --unverified exports the events as they are")
		}
		a.warn("%s: %s, the first: %s", c.Store, counted(len(c.Problems), "problem"), c.Problems[0])
	}
	return nil
}

// eachStore visits the project's own events, then those of each session, oldest first.
func (a *app) eachStore(ctx context.Context, visit func(store *event.Store, resource otlp.Attributes) error) error {
	at, err := a.place()
	if err != nil {
		return err
	}
	project, err := a.projectEvents(at)
	if err != nil {
		return err
	}
	if err := visit(project, otlp.Attributes{"service.name": "air", "air.project": at.project.Root}); err != nil {
		return err
	}
	sessions, err := session.List(at.project, at.home)
	if err != nil {
		return err
	}
	for _, summary := range sessions {
		s, err := session.Current(ctx, at.project, at.home, session.Options{Session: summary.ID})
		if err != nil {
			return err
		}
		err = visit(s.Events, otlp.Attributes{"service.name": "air", "air.project": at.project.Root, "session.id": summary.ID})
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	return nil
}

// eachEvent visits the events of a store in their order, without holding them all.
func eachEvent(ctx context.Context, store *event.Store, q event.Query, visit func(event.Event) error) error {
	for {
		list, err := store.List(ctx, q)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, e := range list {
			if err := visit(e); err != nil {
				return err
			}
		}
		q.After = list[len(list)-1].ID
	}
}

func exportLines(ctx context.Context, w io.Writer, store *event.Store, q event.Query, _ otlp.Attributes) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return eachEvent(ctx, store, q, func(e event.Event) error { return lines.Encode(e) })
}
