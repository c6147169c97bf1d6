package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/backup"
)

func (a *app) undoCommand() *cobra.Command {
	var list bool
	c := &cobra.Command{
		Use:   "undo [RUN]",
		Short: "Take back what a call wrote",
		Long: "Put the files that a call wrote back into the state in which it found them: the last call of this session that\n" +
			"stands, or the one with the run id RUN, of which the beginning is enough. Either all its files are put back or\n" +
			"none: when one was changed since, nothing is done. Undoing is a call too (air.undo), with a run id by which it\n" +
			"can be undone.",
		Example: `  air undo
  air undo --list`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if list {
				return a.listUndo(args)
			}
			return a.undo(cmd, args)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "list what can be undone in this project, newest first")
	return c
}

func (a *app) undo(cmd *cobra.Command, args []string) error {
	in := map[string]string{}
	if len(args) == 1 {
		run, err := a.runToUndo(args[0])
		if err != nil {
			return err
		}
		in["run_id"] = run
	}
	input, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := a.enabled(cmd.Context())
	if err != nil {
		return err
	}
	e := r.Call(cmd.Context(), runtime.Call{Tool: "air.undo", Input: input, Timeout: a.flags.timeout})
	if a.flags.output == "json" || e.Error != nil {
		return a.printEnvelope(e)
	}
	return a.printUndone(e)
}

// runToUndo is the id of the run that a person means.
func (a *app) runToUndo(id string) (string, error) {
	at, err := a.needProject()
	if err != nil {
		return "", err
	}
	past, err := backups(at).Find(id)
	if err != nil {
		return "", err
	}
	past.Close()
	return past.ID, nil
}

// printUndone says what became of each file, and how to get back.
func (a *app) printUndone(e runtime.Envelope) error {
	var out struct {
		RunID   string `json:"run_id"`
		Files   []struct{ Path, Change string }
		Count   int `json:"file_count"`
		Partial bool
	}
	if err := json.Unmarshal(e.Output, &out); err != nil {
		return err
	}
	a.note("run %s is undone; air undo %s brings it back", out.RunID, e.RunID)
	if out.Partial {
		a.note("it ran a command that may have changed more files: those nothing brings back")
	}
	return a.print(out, func(w io.Writer) {
		for _, f := range out.Files {
			fmt.Fprintf(w, "%-9s  %s\n", f.Change, oneLine(f.Path))
		}
		if more := out.Count - len(out.Files); more > 0 {
			fmt.Fprintf(w, "and %d more\n", more)
		}
	})
}

// listUndo shows the runs that stand. It looks at records only.
func (a *app) listUndo(args []string) error {
	if len(args) > 0 {
		return fault.New(fault.InvalidInput, "usage", "--list takes no run")
	}
	at, err := a.needProject()
	if err != nil {
		return err
	}
	all, err := backups(at).List()
	if err != nil {
		return err
	}
	standing := []undoView{}
	for _, s := range all {
		if s.Files > 0 && s.UndoneBy == "" {
			standing = append(standing, undoView{RunID: s.ID, Summary: s})
		}
	}
	var rows [][]string
	ids := shortIDs(len(all), func(i int) string { return all[i].ID })
	for i := range standing {
		v := &standing[i]
		for j := range v.First {
			v.First[j].Path = at.here(v.First[j].Path)
		}
		v.ShortID = ids[v.RunID]
		rows = append(rows, []string{v.ShortID, v.Started.Local().Format(time.DateTime), v.Tool, v.outcome(), v.note(ids)})
	}
	return a.print(standing, func(w io.Writer) { table(w, []string{"RUN", "STARTED", "TOOL", "UNDO WOULD", "NOTE"}, rows) })
}

// undoView is a run as `air undo --list` shows it.
type undoView struct {
	RunID   string `json:"run_id"`
	ShortID string `json:"short_id"`
	backup.Summary
}

// outcome names the first files.
func (v *undoView) outcome() string {
	const named = 2
	var parts []string
	for _, f := range v.First[:min(len(v.First), named)] {
		parts = append(parts, f.Undo+" "+f.Path)
	}
	if more := v.Files - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("+%d", more))
	}
	return strings.Join(parts, ", ")
}

func (v *undoView) note(ids map[string]string) string {
	switch {
	case v.UnderWay:
		return "under way"
	case v.Undoes != "":
		return "undid " + cmp.Or(ids[v.Undoes], v.Undoes)
	}
	return ""
}
