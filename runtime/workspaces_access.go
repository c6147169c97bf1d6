package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

// Workspace returns the workspace with the id.
func (a *Access) Workspace(id string) (Workspace, error) {
	one, err := a.registry.config.Workspaces.Get(id)
	if err == nil && one.Pending {
		err = fault.New(fault.Conflict, "workspace_pending", "workspace %s is being made, or its making was broken off", id)
	}
	return one, err
}

// LockWorkspaces has nobody else make workspaces of the project until unlock. What was left
// of those whose making was broken off is gone then.
func (a *Access) LockWorkspaces(ctx context.Context) (unlock func(), err error) {
	return a.registry.config.Workspaces.Lock(ctx)
}

// BeginWorkspace makes the empty folder of a workspace, whose creation was decided, and
// records that it is being made, which makes it one to sweep until it is finished. A folder
// that is there is an error of kind conflict. The workspaces are locked.
func (a *Access) BeginWorkspace(one Workspace) (Workspace, error) {
	all := a.registry.config.Workspaces
	if err := all.Free(one.Path); err != nil {
		return one, err
	}
	f := &files{registry: a.registry, run: a.run, decisions: a.Commands.decisions}
	e, err := f.decided(permission.Create, one.Path)
	if err != nil {
		return one, err
	}
	if filepath.Dir(e.Target) != all.Dir {
		return one, fault.New(fault.InvalidInput, "bad_workspace_path", "%q lies in no folder of workspaces of this project", one.Path)
	}
	one.ID, one.Path, one.CreatedAt, one.Pending = ids.New(), e.Target, time.Now().UTC(), true
	if err := os.MkdirAll(all.Dir, 0o700); err != nil {
		return one, err
	}
	if err := all.Put(one); err != nil {
		return one, err
	}
	if err := os.Mkdir(one.Path, 0o700); err != nil {
		return one, errors.Join(err, os.Remove(all.record(one.ID)))
	}
	return one, nil
}

func workspaceExists(path string) error {
	return fault.New(fault.Conflict, "workspace_exists", "there is a workspace %q", filepath.Base(path)).
		WithHint("choose another name; air workspace ls lists the workspaces, and a person removes one with air workspace rm")
}

// FinishWorkspace records a workspace that was made.
func (a *Access) FinishWorkspace(ctx context.Context, one Workspace) error {
	one.Pending = false
	if err := a.registry.config.Workspaces.Put(one); err != nil {
		return err
	}
	return a.registry.append(ctx, a.run, event.WorkspaceCreated, map[string]any{
		"workspace_id": one.ID, "path": one.Path, "repository": one.Repository, "branch": one.Branch, "base_ref": one.BaseRef, "base": one.Base,
	})
}

// AbandonWorkspace removes a workspace that could not be made.
func (a *Access) AbandonWorkspace(one Workspace) error {
	return a.registry.config.Workspaces.Remove(one)
}

// MergedWorkspace records that a workspace was merged: what of it, and how. Merge.Result
// is "" where nothing was committed.
func (a *Access) MergedWorkspace(ctx context.Context, one Workspace, m Merge) error {
	one.Merged, one.MergedInto = m.Source, m.Into
	ctx = context.WithoutCancel(ctx)
	err := a.registry.config.Workspaces.Put(one)
	if m.Back != "" {
		err = errors.Join(err, a.otherwise(ctx, m.Back))
	}
	return errors.Join(err, a.registry.append(ctx, a.run, event.WorkspaceMerged, map[string]any{
		"workspace_id": one.ID, "strategy": m.Strategy, "source": m.Source, "into": m.Into, "target": m.Target, "result": m.Result, "changed_files": m.Files,
	}))
}

// otherwise has an undo say how to go back from what it does not take back.
func (a *Access) otherwise(ctx context.Context, how string) error {
	journal, err := a.registry.journal(ctx, a.run, "")
	if err != nil {
		return err
	}
	return journal.Otherwise(how)
}

// Keeping does what changes files, by programs for instance, and has an undo take it back.
// The effects are on single files that are no links, and were decided. What cannot be kept
// first, such as a large file, is changed all the same, and an undo says that there is more,
// as it does with more.
func (c Commands) Keeping(ctx context.Context, effects []permission.Effect, more bool, change func() error) error {
	k := &kept{commands: c, targets: map[string]bool{}}
	resolved, err := k.resolve(effects)
	if err == nil {
		err = k.keep(ctx, resolved)
	}
	if err == nil && more {
		err = k.partial(ctx)
	}
	if err != nil {
		return err
	}
	defer k.keepAfter(ctx)
	return change()
}

// Merge says what a merge did, with object ids.
type Merge struct {
	Strategy string
	Source   string // of the workspace
	Into     string // the branch, or "" for the files alone
	Target   string // of the branch before
	Result   string // and after
	Files    int    // how many changed
	Back     string // how a person goes back by hand; "" where an undo does it, or nothing changed
}
