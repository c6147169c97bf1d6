package git

import (
	"cmp"
	"context"
	"errors"
	"path"
	"strings"

	"github.com/aircoding/air/internal/fault"
	"github.com/aircoding/air/runtime"
	"github.com/aircoding/air/runtime/permission"
)

type createInput struct {
	Cwd        string `json:"cwd"`
	Path       string `json:"path"`
	BranchName string `json:"branch_name"`
	BaseRef    string `json:"base_ref"`
}

type createOutput struct {
	WorkspaceID string `json:"workspace_id"`
	Path        string `json:"path"`
	BranchName  string `json:"branch_name"`
	BaseRef     string `json:"base_ref,omitempty"`
}

func (at Place) createEffects(in createInput) ([]permission.Effect, error) {
	if _, err := branchRef(in.BranchName); err != nil {
		return nil, err
	}
	dir, err := at.workspacePath(in.Path)
	if err != nil {
		return nil, err
	}
	if err := at.Workspaces.Free(dir); err != nil {
		return nil, err
	}
	return []permission.Effect{reads(in.Cwd), {Kind: permission.Create, Target: dir, Recursive: true}}, nil
}

func (at Place) create(ctx context.Context, access *runtime.Access, in createInput) (any, error) {
	dir, err := at.workspacePath(in.Path)
	if err != nil {
		return nil, err
	}
	r, err := open(ctx, access, access.Commands, in.Cwd)
	if err != nil {
		return nil, err
	}
	unlock, err := access.LockWorkspaces(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	w := runtime.Workspace{Path: dir, Repository: r.at.Top, Common: r.at.Common, Branch: in.BranchName, BaseRef: cmp.Or(in.BaseRef, "HEAD")}
	if w.Base, err = r.resolve(ctx, w.BaseRef); err != nil {
		return nil, err
	}
	ref, err := r.newBranch(ctx, in.BranchName)
	if err != nil {
		return nil, err
	}
	if w, err = access.BeginWorkspace(w); err != nil {
		return nil, err
	}
	if err := r.make(ctx, w, ref); err != nil {
		return nil, errors.Join(err, access.AbandonWorkspace(w))
	}
	return createOutput{WorkspaceID: w.ID, Path: w.Path, BranchName: w.Branch, BaseRef: w.BaseRef}, nil
}

// make makes the worktree in the empty folder of a workspace, and then its branch. It
// removes the branch again only when it made it itself.
func (r *repo) make(ctx context.Context, w runtime.Workspace, ref string) error {
	if err := r.fill(ctx, w, ref); err != nil {
		return err
	}
	log := "air: workspace " + w.ID
	if _, err := r.must(ctx, call{top: true, write: true, args: []string{"update-ref", "-m", log, ref, w.Base, strings.Repeat("0", len(w.Base))}}); err != nil {
		if _, there := r.newBranch(ctx, w.Branch); there != nil {
			return there
		}
		return err
	}
	if err := r.access.FinishWorkspace(ctx, w); err != nil {
		_, removal := r.must(context.WithoutCancel(ctx), call{top: true, write: true, args: []string{"update-ref", "-d", ref, w.Base}})
		return errors.Join(err, removal)
	}
	return nil
}

// newBranch is the full name of a branch that is not there yet.
func (r *repo) newBranch(ctx context.Context, name string) (string, error) {
	ref, err := branchRef(name)
	if err != nil {
		return "", err
	}
	there, err := r.exists(ctx, ref)
	if err == nil && there {
		err = fault.New(fault.Conflict, "branch_exists", "there is a branch %q", name).WithHint("choose another name: a workspace has a branch of its own")
	}
	return ref, err
}

// fill makes the worktree, on a branch that is not there yet. Its files come in a step of
// their own: what the repository configures may depend on the worktree, so that it is read
// anew before anything is checked out. The worktree is locked: where it is not to be seen,
// as in the sandbox of a command, git would take it for gone and forget it.
func (r *repo) fill(ctx context.Context, w runtime.Workspace, ref string) error {
	add := call{top: true, write: true, files: true, args: []string{
		"worktree", "add", "--no-checkout", "--quiet", "--lock", "--reason", "air workspace rm removes it", "--detach", "--end-of-options", w.Path, w.Base,
	}}
	if _, err := r.must(ctx, add); err != nil {
		return err
	}
	made, err := r.worktree(ctx, w.Path)
	if err != nil {
		return err
	}
	if made.at.Common != r.at.Common || path.Dir(made.at.Dir) != r.at.Common+"/worktrees" {
		return fault.New(fault.Integrity, "bad_repository", "git made a worktree of another repository")
	}
	checkout := call{top: true, write: true, files: true, whole: true, args: []string{"read-tree", "--reset", "-u", "--no-recurse-submodules", w.Base}}
	if _, err := made.must(ctx, checkout); err != nil {
		return err
	}
	_, err = made.must(ctx, call{top: true, write: true, args: []string{"symbolic-ref", "HEAD", ref}})
	return err
}

// worktree is a workspace as a repository.
func (r *repo) worktree(ctx context.Context, dir string) (*repo, error) {
	commands, err := r.commands.Decide(ctx, []permission.Effect{reads(dir)})
	if err != nil {
		return nil, err
	}
	return open(ctx, r.access, commands, dir)
}
