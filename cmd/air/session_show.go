package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/config"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/session"
)

func (a *app) sessionShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show [ID]",
		Short: "Show what a session has used of its budgets, and which credentials",
		Long: "Show a session, the current one by default: what the session and each capability used of their budgets, and the\n" +
			"credentials that were used in it, which keep those who used them from the network.\n" +
			"config.yaml sets the budgets: budgets.session and budgets.capability, each with calls, bytes_out and wall_seconds.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.place()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				a.flags.session = args[0]
			}
			s, err := a.session(cmd.Context(), at)
			if err != nil {
				return err
			}
			shown, err := showSession(cmd.Context(), s, budgets(at.config.Budgets))
			if err != nil {
				return err
			}
			return a.print(shown, shown.write)
		},
	}
}

// shownSession is what people are told of a session.
type shownSession struct {
	ID          string          `json:"id"`
	Task        string          `json:"task"`
	Started     time.Time       `json:"started_at"`
	Budgets     []shownBudget   `json:"budgets"`
	Credentials []session.Noted `json:"credentials"`
}

// shownBudget is one budget; Capability is empty for that of the session.
type shownBudget struct {
	Capability string     `json:"capability,omitempty"`
	Used       shownUsage `json:"used"`
	Limit      shownUsage `json:"limit"`
}

type shownUsage struct {
	Calls       int64   `json:"calls"`
	BytesOut    int64   `json:"bytes_out"`
	WallSeconds float64 `json:"wall_seconds"`
}

func showUsage(u session.Usage) shownUsage {
	return shownUsage{Calls: u.Calls, BytesOut: u.BytesOut, WallSeconds: u.Wall.Seconds()}
}

func showSession(ctx context.Context, s *session.Session, limits runtime.Budgets) (*shownSession, error) {
	used, err := s.Usage(ctx)
	if err != nil {
		return nil, err
	}
	noted, err := s.AllCredentials(ctx)
	if err != nil {
		return nil, err
	}
	limits = limits.WithDefaults()
	shown := &shownSession{ID: s.ID, Task: s.Task, Started: s.Started, Credentials: noted}
	shown.Budgets = append(shown.Budgets, shownBudget{Used: showUsage(used[""]), Limit: showUsage(limits.Session)})
	delete(used, "")
	for _, capability := range slices.Sorted(maps.Keys(used)) {
		shown.Budgets = append(shown.Budgets, shownBudget{capability, showUsage(used[capability]), showUsage(limits.Capability)})
	}
	return shown, nil
}

func (s *shownSession) write(w io.Writer) {
	fmt.Fprintf(w, "session %s\ntask    %s\nstarted %s\n\n", s.ID, s.Task, s.Started.Local().Format(time.DateTime))
	var rows [][]string
	for _, b := range s.Budgets {
		who := b.Capability
		if who == "" {
			who = "(session)"
		}
		rows = append(rows, []string{
			who,
			fmt.Sprintf("%d of %d", b.Used.Calls, b.Limit.Calls),
			fmt.Sprintf("%d of %d", b.Used.BytesOut, b.Limit.BytesOut),
			fmt.Sprintf("%.1f of %.0f", b.Used.WallSeconds, b.Limit.WallSeconds),
		})
	}
	table(w, []string{"BUDGET", "CALLS", "BYTES OUT", "SECONDS"}, rows)
	if len(s.Credentials) == 0 {
		return
	}
	fmt.Fprintln(w, "\nCredentials used, which keep those who used them from the network:")
	rows = nil
	for _, n := range s.Credentials {
		rows = append(rows, []string{noneAs(strings.Join(n.Chain, " → "), "(agent)"), n.Target})
	}
	table(w, []string{"BY", "CREDENTIAL"}, rows)
}

func noneAs(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

// budgets are the configured ones; what the file leaves out is the default.
func budgets(c config.Budgets) runtime.Budgets {
	return runtime.Budgets{Session: budget(c.Session), Capability: budget(c.Capability)}
}

func budget(b config.Budget) session.Usage {
	limit := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	return session.Usage{Calls: limit(b.Calls), BytesOut: limit(b.BytesOut), Wall: time.Duration(limit(b.WallSeconds)) * time.Second}
}
