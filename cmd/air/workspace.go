package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

func (a *app) workspaceCommand() *cobra.Command {
	return group("workspace", "List and remove the workspaces that git.worktree.create made", a.workspaceLsCommand(), a.workspaceRmCommand())
}

// workspaces are those of the project, without what is left of any whose making was broken off.
func (a *app) workspaces() (place, runtime.Workspaces, error) {
	at, err := a.needProject()
	if err != nil {
		return at, runtime.Workspaces{}, err
	}
	paths, err := a.paths(at, "")
	if err != nil {
		return at, runtime.Workspaces{}, err
	}
	kept := runtime.WorkspacesIn(at.project.Dir, paths)
	return at, kept, kept.Sweep()
}

func (a *app) workspaceLsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the workspaces of this project, the oldest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, kept, err := a.workspaces()
			if err != nil {
				return err
			}
			all, err := kept.List()
			if err != nil {
				return err
			}
			var rows [][]string
			ids := shortIDs(len(all), func(i int) string { return all[i].ID })
			for _, w := range all {
				rows = append(rows, []string{ids[w.ID], w.CreatedAt.Local().Format(time.DateTime), w.Branch, workspaceNote(w), w.Path})
			}
			return a.print(append([]runtime.Workspace{}, all...), func(w io.Writer) {
				table(w, []string{"WORKSPACE", "CREATED", "BRANCH", "NOTE", "PATH"}, rows)
			})
		},
	}
}

func workspaceNote(w runtime.Workspace) string {
	switch {
	case w.Pending:
		return "being made"
	case w.MergedInto != "":
		return "merged into " + strings.TrimPrefix(w.MergedInto, "refs/heads/")
	case w.Merged != "":
		return "merged"
	}
	return ""
}

func (a *app) workspaceRmCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "rm ID",
		Short: "Remove a workspace, with all that was not committed in it",
		Long: "Remove the folder of a workspace, and what the repository knows of it. Of the id the beginning is enough. What\n" +
			"was not committed there is lost, so that it asks first; the branch stays, with all that was committed.",
		Example:           "  air workspace rm 01a0f3c2 --yes",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeWorkspaces,
		RunE: func(cmd *cobra.Command, args []string) error {
			at, kept, err := a.workspaces()
			if err != nil {
				return err
			}
			w, err := kept.Find(args[0])
			if err != nil {
				return err
			}
			if w.Pending {
				return fault.New(fault.Conflict, "workspace_pending", "workspace %s is being made right now", w.ID)
			}
			if !yes {
				a.warn("workspace %s on the branch %s, made %s: %s", w.ID, w.Branch, w.CreatedAt.Local().Format(time.DateTime), w.Path)
			}
			if err := a.confirm(cmd.Context(), "Remove it, with all that was not committed in it?", yes); err != nil {
				return err
			}
			return a.removeWorkspace(cmd.Context(), at, kept, w)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "remove it without asking")
	return c
}

func (a *app) removeWorkspace(ctx context.Context, at place, kept runtime.Workspaces, w runtime.Workspace) error {
	if err := kept.Remove(w); err != nil {
		return err
	}
	events, err := a.projectEvents(at)
	if err != nil {
		return err
	}
	err = appendEvent(ctx, events, event.WorkspaceRemoved, map[string]any{
		"workspace_id": w.ID, "path": w.Path, "repository": w.Repository, "branch": w.Branch,
	})
	if err != nil {
		return err
	}
	a.note("the branch %s stays: %s removes it", w.Branch, permission.JoinArgv([]string{"git", "branch", "-D", w.Branch}))
	return a.print(w, func(out io.Writer) { fmt.Fprintf(out, "removed %s %s\n", w.ID, oneLine(w.Path)) })
}

// completeWorkspaces offers the ids, each with its branch.
func (a *app) completeWorkspaces(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	_, kept, err := a.workspaces()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, err := kept.List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, w := range all {
		ids = append(ids, w.ID+"\t"+w.Branch)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
