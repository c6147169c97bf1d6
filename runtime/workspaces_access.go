package runtime

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/internal/ids"
	"github.com/aircoding/air/runtime/event"
	"github.com/aircoding/air/runtime/permission"
)

// BeginWorkspace makes the empty folder of a workspace, whose creation was decided, and
// records that it is being made. A folder that is there is an error of kind conflict.
func (a *Access) BeginWorkspace(one Workspace) (Workspace, error) {
	f := &files{registry: a.registry, run: a.run, decisions: a.Commands.decisions}
	e, err := f.decided(permission.Create, one.Path)
	if fault.Is(err, fault.PermissionDenied) {
		if _, statErr := os.Lstat(one.Path); statErr == nil {
			return one, workspaceExists(one.Path)
		}
	}
	if err != nil {
		return one, err
	}
	all := a.registry.config.Workspaces
	if filepath.Dir(e.Target) != all.Dir {
		return one, fault.New(fault.InvalidInput, "bad_workspace_path", "%q lies in no folder of workspaces of this project", one.Path)
	}
	one.ID, one.Path, one.CreatedAt, one.Pending = ids.New(), e.Target, time.Now().UTC(), true
	if err := os.MkdirAll(all.Dir, 0o700); err != nil {
		return one, err
	}
	if err := os.Mkdir(one.Path, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = workspaceExists(one.Path)
		}
		return one, err
	}
	if err := all.Put(one); err != nil {
		return one, errors.Join(err, os.Remove(one.Path))
	}
	return one, nil
}

func workspaceExists(path string) error {
	return fault.New(fault.Conflict, "workspace_exists", "there is a workspace %q", filepath.Base(path)).WithHint("choose another path")
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
	if err := a.registry.config.Workspaces.Put(one); err != nil {
		return err
	}
	return a.registry.append(context.WithoutCancel(ctx), a.run, event.WorkspaceMerged, map[string]any{
		"workspace_id": one.ID, "strategy": m.Strategy, "source": m.Source, "into": m.Into, "target": m.Target, "result": m.Result, "changed_files": m.Files,
	})
}

// Merge says what a merge did, with object ids.
type Merge struct {
	Strategy string
	Source   string // of the workspace
	Into     string // the branch, or "" for the files alone
	Target   string // of the branch before
	Result   string // and after
	Files    int    // how many changed
}
